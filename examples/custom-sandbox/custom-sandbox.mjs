// A sandbox provider of one's own, checked with the conformance suite, and used by code mode.
import assert from "node:assert/strict";
import { createCodeMode } from "mcp-codemode";
import { fakeSource, sandboxConformance } from "mcp-codemode/testing";
import { threadSandbox } from "./thread-sandbox.mjs";

/** What a thread of Node cannot promise: the reasons why this is no security boundary. */
const NOT_KEPT = new Set([
  "has no process, require, Buffer, fetch or module of the host",
  "imports no module of the host",
  "keeps the host out of reach of every constructor chain",
  "never shows frames of the host to Error.prepareStackTrace",
]);

const broken = [];
let kept = 0;
for await (const { name, ok, reason } of sandboxConformance(threadSandbox)) {
  console.log(`${ok ? "kept    " : "NOT KEPT"} ${name}${reason === undefined ? "" : ` (${reason})`}`);
  if (ok) kept++;
  else broken.push(name);
}
console.log(`\n${kept} promises kept, ${broken.length} not kept`);
assert.deepEqual(
  broken.filter((name) => !NOT_KEPT.has(name)),
  [],
  "only what makes a boundary may be missing",
);
assert.ok(broken.length > 0, "the suite finds that a thread is no boundary");

// Scripts reach it as the body of an async function; `tools` and the last expression are made for it.
const source = fakeSource({ add: ({ x, y }) => ({ result: x + y }), multiply: ({ x, y }) => ({ result: x * y }) });
const engine = createCodeMode(source, { sandboxProvider: threadSandbox() });
const outcome = await engine.execute({
  code: "const sum = await tools.add({ x: 3, y: 4 });\ntools.multiply({ x: sum, y: 2 })",
});
console.log("through code mode:", JSON.stringify(outcome.value));
assert.equal(outcome.value, 14);
await engine.close();
