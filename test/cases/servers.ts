import { McpServer, type RegisteredTool } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerCapabilities,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Json } from "./case.js";
import { factory, type Options } from "./config.js";
import type { Fixture, FixtureTool } from "./fixtures.js";
import { type Extra, runHandler } from "./handlers.js";
import { addMiddleware } from "./middleware.js";

/** A server under test, not yet connected. */
export interface ServerUnderTest {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** What a server is made of. */
export interface ServerParts {
  fixture: Fixture;
  options: Options;
  middleware: readonly unknown[];
  /** Capabilities that the host declares itself. */
  capabilities: Json | undefined;
  /** Tools are seen by some callers only: needs handlers that look at the caller. */
  perCaller: boolean;
}

const INFO = { name: "cases", version: "1.0.0" };

/** A server with the fixture's tools and code mode: McpServer where it takes them all, else a low-level Server. */
export function buildServer(parts: ServerParts): ServerUnderTest {
  const tools = [...parts.fixture.tools.values()];
  return !parts.perCaller && tools.every(fitsMcpServer) ? highLevel(parts) : lowLevel(parts);
}

interface Usable {
  use(transform: unknown): unknown;
}

function applyCodeMode(server: object, { options }: ServerParts): void {
  const withTransforms = factory("withTransforms");
  const codeMode = factory("codeMode");
  (withTransforms(server) as Usable).use(codeMode(options));
}

// --- McpServer

/** Names that `registerTool` takes for its own properties. */
const REFUSED_NAMES = new Set(Object.getOwnPropertyNames(Object.prototype));

function fitsMcpServer(tool: FixtureTool): boolean {
  if (REFUSED_NAMES.has(tool.name)) return false;
  if (tool.zod !== undefined) return true;
  const { inputSchema, outputSchema } = tool.definition;
  return outputSchema === undefined && (!("inputSchema" in tool.definition) || zodOf(inputSchema) !== undefined);
}

function highLevel(parts: ServerParts): ServerUnderTest {
  const { fixture, capabilities } = parts;
  const server = new McpServer(
    INFO,
    capabilities === undefined ? {} : { capabilities: capabilities as ServerCapabilities },
  );
  const registered = new Map<string, { tool: FixtureTool; handle: RegisteredTool }>();
  const sync = (): void => syncTools(server, fixture, registered);
  sync();
  addMiddleware(server.server, fixture, parts.middleware);
  applyCodeMode(server, parts);
  fixture.on("change", sync);
  return {
    connect: (transport) => server.connect(transport),
    close: () => closing(fixture, sync, () => server.close()),
  };
}

function syncTools(
  server: McpServer,
  fixture: Fixture,
  registered: Map<string, { tool: FixtureTool; handle: RegisteredTool }>,
): void {
  for (const [name, { tool, handle }] of registered) {
    if (fixture.tools.get(name) === tool) continue;
    handle.remove();
    registered.delete(name);
  }
  for (const tool of fixture.tools.values()) {
    const handle = registered.get(tool.name)?.handle ?? register(server, fixture, tool);
    registered.set(tool.name, { tool, handle });
    if (handle.enabled && !tool.enabled) handle.disable();
    else if (!handle.enabled && tool.enabled) handle.enable();
  }
}

function register(server: McpServer, fixture: Fixture, tool: FixtureTool): RegisteredTool {
  const { inputSchema, outputSchema: _none, name: _name, ...config } = tool.definition;
  const schema = (tool.zod ?? zodOf(inputSchema ?? { type: "object" })) as z.ZodObject;
  const handler = async (args: Json, extra: Extra): Promise<object> =>
    runHandler({ fixture, tool: tool.name, args, extra }, tool.on);
  return server.registerTool(tool.name, { ...config, inputSchema: schema }, handler as never);
}

const SIMPLE_KEYS = new Set(["type", "description"]);
const SIMPLE_TYPES: Readonly<Record<string, () => z.ZodType>> = {
  string: () => z.string(),
  number: () => z.number(),
  integer: () => z.int(),
  boolean: () => z.boolean(),
};

/** The Zod form of a schema of simple properties; undefined for all others, which only a low-level server can list. */
function zodOf(schema: unknown): z.ZodObject | undefined {
  const { type, properties = {}, required = [], ...rest } = (schema ?? {}) as Record<string, unknown>;
  if (type !== "object" || Object.keys(rest).length > 0) return undefined;
  const shape: Record<string, z.ZodType> = {};
  for (const [name, property] of Object.entries(properties as Record<string, Record<string, unknown>>)) {
    const make = typeof property === "object" ? SIMPLE_TYPES[String(property["type"])] : undefined;
    if (make === undefined || !Object.keys(property).every((key) => SIMPLE_KEYS.has(key))) return undefined;
    const made = typeof property["description"] === "string" ? make().describe(property["description"]) : make();
    shape[name] = (required as unknown[]).includes(name) ? made : made.optional();
  }
  return z.looseObject(shape);
}

// --- Low-level Server

function lowLevel(parts: ServerParts): ServerUnderTest {
  const { fixture } = parts;
  const capabilities = { tools: { listChanged: true }, ...parts.capabilities } as ServerCapabilities;
  const server = new Server(INFO, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, (_request, extra) => ({
    tools: visibleTools(fixture, extra as unknown as Extra).map(listed) as never,
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = visibleTools(fixture, extra as unknown as Extra).find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Tool ${params.name} not found`);
    const call = { fixture, tool: tool.name, args: params.arguments ?? {}, extra: extra as unknown as Extra };
    return (await runHandler(call, tool.on)) as never;
  });
  addMiddleware(server, fixture, parts.middleware);
  applyCodeMode(server, parts);
  // Rejects while nobody is connected: then there is nobody to tell.
  const tell = (): void => void server.sendToolListChanged().catch(() => undefined);
  fixture.on("change", tell);
  return {
    connect: (transport) => server.connect(transport),
    close: () => closing(fixture, tell, () => server.close()),
  };
}

function visibleTools(fixture: Fixture, { authInfo, sessionId }: Extra): FixtureTool[] {
  const client = (authInfo as { clientId?: string } | undefined)?.clientId;
  return [...fixture.tools.values()].filter((tool) => fixture.visible(tool, [sessionId, client]));
}

/** As the case gives it; without any inputSchema, the one that means "any object". */
const listed = ({ definition }: FixtureTool): object =>
  "inputSchema" in definition ? definition : { ...definition, inputSchema: { type: "object" } };

async function closing(fixture: Fixture, listener: () => void, close: () => Promise<void>): Promise<void> {
  fixture.off("change", listener);
  await close();
}
