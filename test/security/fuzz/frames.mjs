// Messages of a guest whose prelude was subverted, against the host's side of a run: it must have a result in any case.
import { build } from "esbuild";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { KNOWN_KINDS, kindOf } from "../attack-bench.mjs";
import { mutatedText, oddText, shorter } from "./random.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The host's side of a run is no public part of the package: it is bundled from its source. */
async function loadHostRun() {
  mkdirSync(join(root, ".tmp"), { recursive: true });
  const outfile = join(root, ".tmp", `host-run-${process.pid}.mjs`);
  process.on("exit", () => rmSync(outfile, { force: true }));
  const contents = `export { HostRun } from "./src/sandbox/quickjs/host-run.js"; export { KIND } from "./src/sandbox/quickjs/protocol.js"; export { DEFAULT_SANDBOX_LIMITS } from "./src/sandbox/limits.js";`;
  await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  return import(pathToFileURL(outfile).href);
}

const { HostRun, KIND, DEFAULT_SANDBOX_LIMITS } = await loadHostRun();

const REAL = [
  '["echo",[1]]',
  '["fail",["x"]]',
  '["ask",[{"a":1}]]',
  '["log","text"]',
  '["error","text"]',
  "+[[],1]",
  '+[["note"],{"@@":"Set","v":[1,2]}]',
  '+[[],{"@@":"Map","v":[[1,{"@@":"ref","v":0}]]}]',
  '+[[],{"@@":"RegExp","v":["a","g"]}]',
  '+[[],{"@@":"bigint","v":"12"}]',
  '+[[],{"@@":"Float64Array","v":"AAAAAAAA8D8="}]',
  '-{"name":"Error","message":"x","stack":" at f (script.js:1:5)","kind":"limit","details":{"a":1}}',
  '{"notes":[],"columnShift":0,"stats":{"cpuMs":1,"memoryBytes":1,"messages":1}}',
  '{"notes":["a"],"columnShift":3,"suspended":true,"stats":{}}',
  '{"failure":{"kind":"timeout","error":{"name":"","message":"","stack":""}},"notes":[],"columnShift":0,"stats":{"memoryBytes":1}}',
];
const KINDS = [KIND.CALL, KIND.CALL, KIND.LOG, KIND.DONE, 0, 7, 255];
const REPORT = REAL[12];
const SUSPENDED = '{"notes":[],"columnShift":0,"suspended":true,"stats":{"cpuMs":1,"memoryBytes":1,"messages":1}}';

const text = (random) =>
  random.oneIn(6) ? oddText(random) : random.oneIn(3) ? random.pick(REAL) : mutatedText(random, random.pick(REAL));

export const frames = {
  name: "frames",
  make: (random) => ({
    frames: random.list(1, 8, () => ({ kind: random.pick(KINDS), id: random.below(4), text: text(random) })),
    end: random.pick(["report", "report", "suspended", "timeout", "cancelled"]),
    snapshot: random.oneIn(2),
  }),
  *shrink(input) {
    for (const frames of shorter(input.frames)) yield { ...input, frames };
  },
  async run(input, bench) {
    const replies = [];
    const link = { reply: (id, reply) => replies.push([id, reply]), suspend: () => {} };
    const start = { sent: "await echo(1)", script: { code: "await echo(1)", steps: [], notes: [] } };
    const run = new HostRun(start, DEFAULT_SANDBOX_LIMITS, { externalFunctions: bench.functions }, link);
    const receive = (kind, id, message) => {
      try {
        run.receive(kind, id, message);
      } catch {
        // As the thread's owner does: the run is ended.
        run.end("sandbox", "The sandbox sent a message that is none.");
      }
    };
    for (const { kind, id, text: message } of input.frames) {
      receive(kind, id, message);
      await Promise.resolve();
    }
    if (input.snapshot) run.receiveSnapshot(new Uint8Array(3));
    if (input.end === "report") receive(KIND.REPORT, 0, REPORT);
    else if (input.end === "suspended") receive(KIND.REPORT, 0, SUSPENDED);
    else run.end(input.end, "x");
    const result = await Promise.race([run.result, new Promise((resolve) => setTimeout(resolve, 500))]);
    bench.expect(result !== undefined && KNOWN_KINDS.has(kindOf(result)), `ended in ${inspect(result)}`);
    const answered = replies.every(([, reply]) => reply[0] === "+" || reply[0] === "-");
    bench.expect(answered, `answered ${JSON.stringify(replies)}`);
  },
  show: (input) => JSON.stringify(input, undefined, 1),
};
