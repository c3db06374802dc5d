// What the callers of a soak do, and what each of them must see.
import { loadAttacks } from "../attack-bench.mjs";

const attacks = loadAttacks();

/** A caller saw what it should not. */
export class Wrong extends Error {}

const expect = (holds, what, reply) => {
  if (!holds) throw new Wrong(`${what}: ${JSON.stringify(reply).slice(0, 600)}`);
};

/** A busy machine may be too slow for a script: counted, not wrong. */
const isSlow = ({ mark }) => mark?.kind === "timeout";

async function goodScripts(caller, counts) {
  const scripts = [
    ["const all = await Promise.all([1, 2, 3, 4].map((n) => tools.double({ n }))); return all.join()", "2,4,6,8"],
    [
      "const rows = JSON.parse(await call_tool('rows', {})); return rows.filter((r) => r.id % 500 === 0).map((r) => r.name).join()",
      "row 0,row 500,row 1000,row 1500",
    ],
    ["return await call_tool('secret', {})", caller.secret],
    ["try { await call_tool('fails', {}) } catch (e) { return e.kind }", "tool"],
    [
      "console.log('x'); await progress(1, 2, 'half'); await sleep(5); return [1, 2].map((n: number) => n + 1).join()",
      "2,3",
    ],
  ];
  for (const [code, wanted] of scripts) {
    const reply = await caller.call("execute", { code });
    counts.good++;
    if (isSlow(reply)) counts.slow++;
    else
      expect(
        reply.mark?.kind === "ok" && reply.text.split("\n")[0] === wanted,
        `${caller.name} wanted ${wanted}`,
        reply,
      );
  }
  const found = await caller.call("search", { query: "double a number" });
  expect(found.text.includes("double"), "search found nothing", found);
}

/** Variables of a caller's session live on, and are nobody else's. */
async function sessionScripts(caller, counts, seen) {
  const code =
    "var count = typeof count === 'number' ? count + 1 : 1; var mine = await call_tool('secret', {}); return [count, mine].join()";
  const reply = await caller.call("execute", { code });
  counts.session++;
  if (isSlow(reply)) return void counts.slow++;
  const before = seen.get(caller.name) ?? 0;
  expect(
    reply.text.split("\n")[0] === `${before + 1},${caller.secret}`,
    `${caller.name} wanted its count ${before + 1}`,
    reply,
  );
  seen.set(caller.name, before + 1);
}

async function hostileScripts(caller, counts, random) {
  const { code, id } = attacks[Math.floor(random() * attacks.length)];
  const reply = await caller.call("execute", { code });
  counts.hostile++;
  expect(reply.mark !== undefined, `attack ${id} has no mark`, reply);
  const others = /secret of (\S+)/.exec(reply.text)?.[1];
  expect(
    others === undefined || others === caller.name,
    `attack ${id} of ${caller.name} saw another caller's secret`,
    reply,
  );
  expect(reply.text.length < 200_000, `attack ${id} has a reply of ${reply.text.length} characters`, reply);
}

/** Asks for a destructive call: a person allows it, refuses it, or never answers. */
async function askingScripts(caller, counts, random, runs) {
  const reply = await caller.call("execute", {
    code: "const x = 20; const said = await call_tool('wipe', {}).catch((e) => e.kind); return said + (x + 1)",
  });
  if (isSlow(reply)) return void counts.slow++;
  expect(reply.mark?.kind === "suspended", "a destructive call was not asked about", reply);
  counts.suspended++;
  const { run, pending } = reply.mark;
  const action = ["allow", "deny", "cancel"][Math.floor(random() * 3)];
  if (action === "cancel") return runs.cancel(run);
  const early = await caller.call("resume", { run });
  expect(early.mark?.kind === "suspended", "a run went on before anybody had answered", early);
  await runs.decide(run, pending[0].callId, { action });
  const after = await caller.call("resume", { run });
  if (isSlow(after)) return void counts.slow++;
  const wanted = action === "allow" ? "wiped21" : "approval21";
  expect(after.mark?.kind === "ok" && after.text.split("\n")[0] === wanted, `resumed run wanted ${wanted}`, after);
  const again = await caller.call("resume", { run });
  expect(again.text.split("\n")[0] === wanted, "a second resume gave something else", again);
}

/** A client that gives up in the middle. */
async function abortedScripts(caller, counts, random) {
  const signal = AbortSignal.timeout(5 + Math.floor(random() * 60));
  const code = "await Promise.all([1, 2, 3].map(() => call_tool('slow', { ms: 400 }))); return 1";
  await caller.call("execute", { code }, { signal }).then(
    (reply) => expect(reply.mark !== undefined, "a cancelled call has an odd reply", reply),
    () => {},
  );
  counts.aborted++;
}

/** All that one caller does while it is connected. */
export async function workOf(caller, kind, { counts, random, seen, runs }) {
  if (kind === "good") return goodScripts(caller, counts);
  if (kind === "session") for (let turn = 0; turn < 3; turn++) await sessionScripts(caller, counts, seen);
  else if (kind === "hostile") for (let turn = 0; turn < 4; turn++) await hostileScripts(caller, counts, random);
  else if (kind === "asking") await askingScripts(caller, counts, random, runs);
  else for (let turn = 0; turn < 3; turn++) await abortedScripts(caller, counts, random);
}
