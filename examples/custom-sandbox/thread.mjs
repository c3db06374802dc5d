// The thread of thread-sandbox.mjs: one script, then it is terminated.
import { format } from "node:util";
import { parentPort, workerData } from "node:worker_threads";

// Kept before the script can replace them.
const { parse, stringify } = JSON;
const AsyncFunction = (async () => {}).constructor;
const post = parentPort.postMessage.bind(parentPort);
const NewPromise = Promise;
const NewError = Error;

const calls = new Map();
let lastCall = 0;
const call = (name, args) =>
  new NewPromise((resolve, reject) => {
    post(["call", ++lastCall, name, stringify(args)]);
    calls.set(lastCall, { resolve, reject });
  });
parentPort.on("message", ([id, ok, text]) => {
  const { resolve, reject } = calls.get(id);
  calls.delete(id);
  if (ok) resolve(text === "" ? undefined : parse(text));
  else reject(new NewError(text));
});

for (const level of ["log", "info", "debug", "warn", "error"]) {
  console[level] = (...values) => post(["log", level, format(...values)]);
}

const { code, functions, inputs } = parse(workerData);
const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
for (const name of functions) define(name, (...args) => call(name, args));
for (const [name, value] of Object.entries(inputs)) define(name, value);
await run();

async function run() {
  let script;
  try {
    script = new AsyncFunction(code);
  } catch (error) {
    return fail(error, "syntax");
  }
  try {
    // Inside the try: a value that has no JSON form is a failure of the script, not of this thread.
    post(["value", stringify(await script()) ?? ""]);
  } catch (error) {
    fail(error, error instanceof RangeError && /call stack/.test(error.message) ? "stack" : "runtime");
  }
}

function fail(error, kind) {
  post(["error", { kind, ...described(error) }]);
}

/** Whatever was thrown; reading it may throw again. */
function described(error) {
  try {
    if (typeof error !== "object" || error === null) return { name: "Thrown", message: `${String(error)} was thrown` };
    return { name: String(error.name ?? "Error"), message: String(error.message || "no message") };
  } catch {
    return { name: "Error", message: "unreadable error" };
  }
}
