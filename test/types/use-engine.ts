// The engine and its parts, without any MCP SDK.
import {
  bm25,
  type CallPolicy,
  type CallToolResult,
  type CodeMode,
  type CodeModeOptions,
  createCodeMode,
  executeTool,
  type ExecuteOutcome,
  type ExecuteResultSerializer,
  inProcessSandbox,
  jsonResult,
  jsonSerializer,
  type Limits,
  markdownSerializer,
  memoryStore,
  type MetaTool,
  type MetaToolFactory,
  outputErrorResult,
  policies,
  processResult,
  quickJsSandbox,
  regex,
  resumeTool,
  type SandboxProvider,
  type SandboxResult,
  schemaTool,
  type SearchFunction,
  type SearchHit,
  type SearchResultSerializer,
  type SearchStrategy,
  searchTool,
  textResult,
  type Tool,
  type ToolSource,
  typescriptSerializer,
} from "mcp-codemode";

declare function show(...values: unknown[]): void;

const tool: Tool = { name: "add", inputSchema: { type: "object", properties: { a: { type: "number" } } } };

const source: ToolSource = {
  name: "sums",
  listTools: async () => [tool],
  callTool: async (name, args, { signal, callerId, onProgress }) => {
    onProgress?.({ progress: 1, total: 2, message: name });
    return { content: [{ type: "text", text: `${String(args["a"])} ${String(signal.aborted)} ${callerId ?? ""}` }] };
  },
  onToolsChanged: (listener) => {
    const timer = setInterval(listener, 1_000);
    return () => clearInterval(timer);
  },
  close: async () => {},
};

const minimalSandbox: SandboxProvider = {
  name: "minimal",
  async run(code, { externalFunctions, inputs, limits, signal, onLog }): Promise<SandboxResult> {
    onLog?.({ level: "log", text: code });
    if (signal?.aborted === true)
      return { status: "failed", error: { kind: "cancelled", name: "Error", message: "x" } };
    return { status: "completed", value: [Object.keys(externalFunctions ?? {}), inputs, limits?.timeoutMs] };
  },
};

const firstOnly: SearchFunction = (tools, query) => tools.filter(({ name }) => name.startsWith(query)).slice(0, 1);
const strategy: SearchStrategy = {
  name: "first",
  search: async ({ query, limit, server, tags }, tools): Promise<readonly SearchHit[]> =>
    [query, server, ...(tags ?? [])].length > limit ? [] : tools.map(({ name }) => ({ name, score: 1 })),
};
const serializer: SearchResultSerializer = (tools, { query, total, detail }) =>
  `${query ?? ""} ${tools.length} of ${total} ${detail ?? ""}`;
const objects: SearchResultSerializer = async (tools) => tools.map(({ name, description }) => ({ name, description }));
const result: ExecuteResultSerializer = async ({ status, calls, notes, stdout, stderr, durationMs }) =>
  `${status} ${calls.map((call) => `${call.tool} ${call.ok} ${call.ms}`).join()} ${notes.join()} ${stdout}${stderr}${durationMs}`;
const structured: ExecuteResultSerializer = (): CallToolResult => ({ content: [{ type: "text", text: "x" }] });
const policy: CallPolicy = ({ name, server, arguments: args, annotations, via, callerId }) =>
  annotations?.["readOnlyHint"] === true
    ? { action: "allow", arguments: { ...args } }
    : { action: "deny", reason: `${name} ${server ?? ""} ${via} ${callerId ?? ""}` };
const countTool: MetaToolFactory = (engine): MetaTool => ({
  tool: { name: "count", inputSchema: { type: "object" } },
  call: async (_args, context) => ({
    content: [{ type: "text", text: String((await engine.listTools(context)).length) }],
  }),
});

const limits: Limits = { timeoutMs: 1_000, maxToolCalls: null, memoryBytes: 32 * 1024 * 1024, maxResultBytes: 1_000 };
const everything: CodeModeOptions = {
  enabled: true,
  sources: [source],
  include: ({ name }) => name !== "hidden",
  directTools: ["add"],
  aliases: { add: ["plus", "sum"] },
  metaTools: [
    searchTool({ name: "find", defaultLimit: 3, strategy }),
    executeTool({ name: "run", inputs: true }),
    countTool,
  ],
  searchStrategy: strategy,
  searchResultSerializer: serializer,
  executeResultSerializer: result,
  structuredOutput: "value",
  defaultArguments: { workspace: "w1" },
  argumentsFor: ({ name }) => (name === "add" ? { defaults: { a: 1 }, hidden: ["a"] } : undefined),
  sandboxProvider: minimalSandbox,
  limits,
  policy,
  directCalls: "policy",
  callerId: ({ sessionId }) => sessionId,
};
const shorthands: CodeModeOptions[] = [
  everything,
  { searchToolName: "find_tools", executeToolName: "run_code", executeDescription: "Runs code" },
  { directTools: ({ annotations }) => annotations?.["readOnlyHint"] === true, searchStrategy: firstOnly },
  { searchStrategy: bm25(), searchResultSerializer: jsonSerializer(), executeResultSerializer: textResult() },
  { searchStrategy: regex(), searchResultSerializer: markdownSerializer({ detail: "full" }) },
  { searchResultSerializer: typescriptSerializer({ detail: "declarations" }), executeResultSerializer: jsonResult() },
  { searchResultSerializer: objects, executeResultSerializer: outputErrorResult() },
  { executeResultSerializer: processResult(), sandboxProvider: inProcessSandbox({ limits: { timeoutMs: 100 } }) },
  {
    executeResultSerializer: structured,
    sandboxProvider: quickJsSandbox({ minWorkers: 1, maxWorkers: 2, maxQueue: 10 }),
  },
  { policy: policies.readOnly },
  {
    policy: () => ({ action: "ask", reason: "always" }),
    store: memoryStore({ maxBytes: 1e6 }),
    secret: "x".repeat(32),
  },
  { session: { variables: true, key: ({ sessionId }) => sessionId, ttlMs: 1_000, maxSessions: 5, maxBytes: 1e6 } },
  {
    requireSchema: true,
    metaTools: [searchTool(), schemaTool(), executeTool({ restart: false }), resumeTool({ name: "go_on" })],
  },
  {},
];

const engines: CodeMode[] = shorthands.map((options) => createCodeMode(source, options));
for (const engine of engines) {
  const tools: readonly Tool[] = await engine.listTools();
  const found: CallToolResult = await engine.search({ query: "sum", limit: 3, detail: "brief", tags: ["math"] });
  const outcome: ExecuteOutcome = await engine.execute({ code: "return 1" }, { callerId: tools[0]?.name });
  if (outcome.status === "completed") show(outcome.value, found.content.length);
  else if (outcome.status === "failed") show(outcome.error.kind, outcome.error.message, outcome.error.line);
  else {
    for (const { callId, tool } of outcome.pending)
      await engine.decide(outcome.run, callId, { action: "deny", reason: tool });
    show((await engine.runs()).length, (await engine.resume({ run: outcome.run })).status);
    await engine.cancel(outcome.run);
  }
  await engine.close();
}
