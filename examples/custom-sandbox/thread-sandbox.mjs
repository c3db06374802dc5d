// A minimal SandboxProvider: each script is the body of an async function in a fresh worker thread.
//
// NOT A SECURITY BOUNDARY. The script is in a thread of this process with everything Node offers: it can read files,
// open sockets and load modules. It shows what a provider has to do, and is fit for scripts that you wrote yourself.
import { Worker } from "node:worker_threads";
import { DEFAULT_SANDBOX_LIMITS } from "mcp-codemode/sandbox";

/** Runs what it is given as the body of an async function: `accepts` is left out, so scripts come in that form. */
export function threadSandbox() {
  return { name: "thread", run };
}

async function run(code, options) {
  const limits = withDefaults(options.limits);
  if (Buffer.byteLength(code) > limits.maxCodeBytes) return failed("limit", "LimitError", "The script is too long.");
  if (options.signal?.aborted) return failed("cancelled", "CancelledError", "The run was cancelled.");
  const functions = new Map(Object.entries(options.externalFunctions ?? {}));
  const worker = startWorker({ code, functions: [...functions.keys()], inputs: options.inputs ?? {} }, limits);
  const log = newLog(limits.maxLogBytes, options.onLog);
  try {
    const outcome = await outcomeOf(worker, { functions, log, limits, signal: options.signal });
    return { ...outcome, logs: log.entries };
  } finally {
    // Also what makes a late answer harmless: there is nobody left to get it.
    await worker.terminate();
  }
}

/** Limits that were not given are the defaults; `null` removes one. */
function withDefaults(given = {}) {
  const all = Object.entries({ ...DEFAULT_SANDBOX_LIMITS, ...given });
  return Object.fromEntries(all.map(([name, value]) => [name, value ?? Number.POSITIVE_INFINITY]));
}

function startWorker(job, { memoryBytes }) {
  const mib = Math.min(memoryBytes / 2 ** 20, 4096);
  return new Worker(new URL("./thread.mjs", import.meta.url), {
    // As text: structured clone would hand over more than JSON, and an input named "__proto__" must stay a name.
    workerData: JSON.stringify(job),
    resourceLimits: { maxOldGenerationSizeMb: mib, maxYoungGenerationSizeMb: Math.max(1, mib / 8) },
    env: {},
    stdout: true,
    stderr: true,
  });
}

/** Resolves to the first end that comes: the script's own, its deadline, the caller's abort, or the thread's death. */
function outcomeOf(worker, { functions, log, limits, signal }) {
  return new Promise((resolve) => {
    const late = () => resolve(failed("timeout", "TimeoutError", `The script ran longer than ${limits.timeoutMs} ms.`));
    const timer = setTimeout(late, Math.min(limits.timeoutMs, 2 ** 31 - 1));
    const abort = () => resolve(failed("cancelled", "CancelledError", "The run was cancelled."));
    signal?.addEventListener("abort", abort, { once: true });
    worker.on("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(failed("sandbox", "SandboxError", "The thread ended."));
    });
    worker.on("error", (error) => resolve(deathOf(error)));
    worker.on("message", ([kind, ...rest]) => {
      if (kind === "call") void answer(worker, functions, rest);
      else if (kind === "log") log.write(...rest);
      else resolve(kind === "value" ? completed(rest[0], limits.maxResultBytes) : { status: "failed", error: rest[0] });
    });
  });
}

async function answer(worker, functions, [id, name, args]) {
  try {
    const value = await functions.get(name)(...JSON.parse(args));
    worker.postMessage([id, true, JSON.stringify(value) ?? ""]);
  } catch (error) {
    // The message only: a stack or a cause of the host is none of the script's business.
    const message = error instanceof Error ? error.message : String(error);
    worker.postMessage([id, false, message]);
  }
}

function completed(text, maxResultBytes) {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxResultBytes) return failed("limit", "LimitError", `The result takes ${bytes} bytes.`);
  return { status: "completed", value: text === "" ? undefined : JSON.parse(text) };
}

function deathOf(error) {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return failed("memory", "MemoryError", "Out of memory.");
  return failed("sandbox", "SandboxError", error.message);
}

function newLog(maxBytes, onLog) {
  const entries = [];
  let bytes = 0;
  const write = (level, text) => {
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) return;
    entries.push({ level, text });
    onLog?.({ level, text });
  };
  return { entries, write };
}

const failed = (kind, name, message) => ({ status: "failed", error: { kind, name, message } });
