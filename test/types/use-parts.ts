// The other entry points, and errors.
import { CodeModeError, ConfigurationError, type ErrorKind, TimeoutError } from "mcp-codemode";
import {
  CodeModeError as SandboxCodeModeError,
  DEFAULT_SANDBOX_LIMITS,
  inProcessSandbox,
  quickJsSandbox,
} from "mcp-codemode/sandbox";
import { bm25, jsonSerializer, markdownSerializer, regex, typescriptSerializer } from "mcp-codemode/search";
import { type ConformanceResult, type FakeSource, fakeSource, sandboxConformance } from "mcp-codemode/testing";

declare function show(...values: unknown[]): void;

const source: FakeSource = fakeSource({
  now: () => "noon",
  greet: { description: "Greets", inputSchema: { type: "object" }, handler: async ({ name }) => ({ hello: name }) },
});
source.set("late", () => undefined);
show(source.calls.map(({ name, args }) => [name, args]));

for await (const { name, ok, reason } of sandboxConformance(() => inProcessSandbox(), { checkTimeoutMs: 1_000 })) {
  const result: ConformanceResult = { name, ok, ...(reason === undefined ? {} : { reason }) };
  show(result);
}

const sandbox = quickJsSandbox({ limits: { timeoutMs: DEFAULT_SANDBOX_LIMITS.timeoutMs, cpuMs: null } });
const ended = await sandbox.run("return await add(1, 2)", {
  externalFunctions: { add: (a: number, b: number) => a + b, later: async (text: string) => text },
  inputs: { list: [1, 2] },
  signal: AbortSignal.timeout(1_000),
});
if (ended.status === "failed") {
  const kind: ErrorKind = ended.error.kind;
  show(kind, ended.error.frame, ended.error.hint);
}
await sandbox.close?.();

const strategies = [bm25(), regex()].map(({ name }) => name);
const serializers = [jsonSerializer(), markdownSerializer(), typescriptSerializer()];
show(strategies, serializers.length);

try {
  throw new TimeoutError("too long", { details: { ms: 5 } });
} catch (error) {
  if (CodeModeError.isInstance(error)) {
    const kind: ErrorKind = error.kind;
    show(kind, error.message, error.details);
  }
  if (SandboxCodeModeError.isInstance(error)) show(error.kind);
  if (error instanceof ConfigurationError) show(error.name);
}
