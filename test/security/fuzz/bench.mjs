// Runs a case on the real sandbox and holds it to what must be true of every run.
import { attackFunctions, hostPrototypes, kindOf, KNOWN_KINDS } from "../attack-bench.mjs";
import { contention, idleLateness, watched } from "../lateness.mjs";
import { ODD_VALUES } from "./replies.mjs";

const LIMITS = { timeoutMs: 150, maxLogBytes: 4096, maxResultBytes: 8192 };
/** Deadline, grace, kill and start of another worker. */
const MOST_MS = LIMITS.timeoutMs + 300;
const MOST_LATE_MS = 60;
const MOST_NOTES_BYTES = 16_384;
const MOST_PAUSES = 5;

/** A case that broke a rule. */
export class Finding extends Error {}

/** Late runs are told apart from others: they are tried again. */
export class LateFinding extends Finding {}

/**
 * @param {object} parts
 * @param {import("mcp-codemode/sandbox").SandboxProvider} parts.sandbox
 * @param {(reason?: unknown) => Error} parts.suspend
 * @param {() => Error} parts.refused
 */
export function newBench({ sandbox, suspend, refused }) {
  const functions = {
    ...attackFunctions(refused),
    ask: (question) => {
      throw suspend({ question });
    },
    odd: (name) => (Object.hasOwn(ODD_VALUES, String(name)) ? ODD_VALUES[name]() : name),
    log: () => undefined,
  };
  delete functions.never;
  const options = (more) => ({ externalFunctions: functions, ...more, limits: { ...LIMITS, ...more.limits } });
  const expect = (holds, reason) => {
    if (!holds) throw new Finding(reason);
  };

  async function judged(work, mostMs = MOST_MS) {
    const prototypes = hostPrototypes();
    const { result, ms, lateMs } = await watched(work);
    checkResult(result);
    expect(hostPrototypes() === prototypes, "a prototype of the host was changed");
    const scale = contention.cached();
    if (ms > mostMs * scale)
      throw new LateFinding(`took ${ms.toFixed(0)} ms (machine ${scale.toFixed(1)} times slower)`);
    if (lateMs > MOST_LATE_MS * scale && lateMs - (await idleLateness(Math.min(ms, MOST_MS))) > MOST_LATE_MS * scale)
      throw new LateFinding(`made the event loop ${lateMs.toFixed(0)} ms late`);
    return result;
  }

  function checkResult(result) {
    expect(["completed", "failed", "suspended"].includes(result?.status), `status ${String(result?.status)}`);
    expect(KNOWN_KINDS.has(kindOf(result)), `kind ${String(kindOf(result))}`);
    const { error, notes = [], logs = [] } = result;
    if (error !== undefined) {
      expect(typeof error.message === "string" && error.message !== "", "an error without a message");
      expect(typeof error.name === "string" && error.name !== "", "an error without a name");
      expect(JSON.stringify(error).length < 128 * 1024, "an error that is too long");
      expect(
        !/node:|node_modules|\.mjs|file:\/\//.test(error.message + (error.hint ?? "")) || error.kind !== "sandbox",
        `a path in ${error.message}`,
      );
    }
    expect(JSON.stringify(notes).length < MOST_NOTES_BYTES, "notes that are too long");
    expect(logs.reduce((sum, { text }) => sum + text.length, 0) < LIMITS.maxLogBytes + 200, "logs that are too long");
  }

  const run = (code, more) => {
    const given = options(more);
    return judged(() => sandbox.run(code, given), given.limits.timeoutMs + 300);
  };

  /** Runs a script, and goes on with it as often as it is paused. */
  async function toTheEnd(code, more, answer = ({ id, args }) => ({ id, value: args[0] })) {
    let result = await run(code, more);
    for (let pauses = 0; result.status === "suspended" && pauses < MOST_PAUSES; pauses++) {
      const answers = result.pending.map(answer);
      const { snapshot } = result;
      result = await judged(() => sandbox.resume(snapshot, answers, options({ ...more, code })));
    }
    return result;
  }

  return { sandbox, functions, options, expect, judged, run, toTheEnd };
}
