import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { asJson, asText, type Json, Todo } from "./case.js";
import { metaToolNames, type Options, toOptions } from "./config.js";
import { type Caller, connectInMemory, type Connection, type OuterTool, type Request } from "./connections.js";
import { Fixture } from "./fixtures.js";
import { GatewayHost } from "./gateway-host.js";
import { connectHttp, HttpHost } from "./http.js";
import { Reply } from "./reply.js";
import { SearchTap, type ShownContext, type ShownTool } from "./search-tap.js";
import { buildServer, type ServerUnderTest } from "./servers.js";

/** What a world is made of. */
export interface WorldParts {
  tools: readonly unknown[];
  config: Json;
  /** Further sources of tools. */
  sources?: readonly object[] | undefined;
  /** The tools are those of a gateway in front of these. */
  upstreams?: readonly unknown[];
  /** The environment of a gateway. */
  env?: unknown;
  transport?: unknown;
  capabilities?: Json | undefined;
  /** Tools differ between callers. */
  perCaller?: boolean;
  /** The client calls listTools first, so that it validates results against output schemas. */
  listToolsFirst?: boolean;
}

/** Which connection a request goes over, and as whom. */
export interface Sender extends Omit<Request, "caller"> {
  caller?: Caller | undefined;
  /** Label of an MCP session. */
  session?: string | undefined;
  /** Goes into the arguments beside `code` or `query`. */
  args?: Json | undefined;
}

/** What a search answered. */
export interface SearchReply {
  reply: Reply;
  names: string[];
  total: number;
  tools: readonly ShownTool[];
  context: ShownContext;
}

const TRANSPORTS = [undefined, "raw", "streamable-http"];

/** The servers of one run, with their tools, clients and replies. One server for each connection, all over one fixture. */
export class World {
  readonly fixture: Fixture;
  readonly options: Options;
  readonly gateway: GatewayHost | undefined;
  readonly names: { search: string; execute: string };
  /** Every reply so far, for what must not be in any. */
  readonly replies: Reply[] = [];
  readonly #parts: WorldParts;
  readonly #tap = new SearchTap();
  readonly #connections = new Map<string, Promise<Connection>>();
  #http: { host: HttpHost; url: Promise<URL> } | undefined;
  #refused: unknown;
  readonly #defaults: string | undefined;

  constructor(parts: WorldParts) {
    if (!TRANSPORTS.includes(parts.transport as string)) throw new Todo(`unknown transport ${String(parts.transport)}`);
    this.#parts = parts;
    this.fixture = new Fixture(parts.tools);
    this.options = { ...toOptions(parts.config), ...(parts.sources === undefined ? {} : { sources: parts.sources }) };
    this.names = metaToolNames(this.options);
    const { upstreams, env } = parts;
    if (upstreams !== undefined) this.gateway = new GatewayHost(upstreams, env, () => this.#tap.wrap(this.options));
    this.#defaults = JSON.stringify(this.options["defaultArguments"]);
  }

  /** False once anybody has changed the default arguments that the library was given. */
  get defaultsUnchanged(): boolean {
    return JSON.stringify(this.options["defaultArguments"]) === this.#defaults;
  }

  /** True for a configuration that the library refuses: every request then gets this error as its reply. */
  get refused(): boolean {
    return this.#refused !== undefined;
  }

  #build(): ServerUnderTest {
    if (this.gateway !== undefined) return this.gateway.server();
    const { config, capabilities, perCaller } = this.#parts;
    return buildServer({
      fixture: this.fixture,
      options: this.#tap.wrap(this.options),
      middleware: (config["middleware"] ?? []) as readonly unknown[],
      capabilities,
      perCaller: perCaller === true,
    });
  }

  /** The connection of a session; made when first asked for. */
  async connection({ session, caller = {} }: Sender = {}): Promise<Connection> {
    const http = this.#parts.transport === "streamable-http";
    const key = JSON.stringify([session, caller.sessionId, http ? caller.authInfo : undefined]);
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const made = this.#connect(caller, http);
    this.#connections.set(key, made);
    return made;
  }

  async #connect(caller: Caller, http: boolean): Promise<Connection> {
    const connection = http
      ? await connectHttp(await this.#loopback(), caller)
      : await connectInMemory(this.#build(), caller, this.#parts.transport === "raw");
    if (this.#parts.listToolsFirst === true) await connection.listTools();
    return connection;
  }

  #loopback(): Promise<URL> {
    if (this.#http === undefined) {
      const host = new HttpHost(() => this.#build());
      this.#http = { host, url: host.listen() };
    }
    return this.#http.url;
  }

  get connections(): Promise<Connection[]> {
    return Promise.all(this.#connections.values());
  }

  /** Ends one session's connection. */
  async disconnect(session: string): Promise<void> {
    for (const [key, connection] of this.#connections) {
      if ((JSON.parse(key) as unknown[])[0] !== session) continue;
      this.#connections.delete(key);
      await (await connection).close();
    }
  }

  /** Runs a script by the execute tool. */
  async execute(script: string, sender: Sender = {}): Promise<Reply> {
    return this.callTool(this.names.execute, { code: script, ...sender.args }, sender);
  }

  /** Asks the search tool. Searches of one world are not made in parallel: the tap hears the last one. */
  async search(args: Json, sender: Sender = {}): Promise<SearchReply> {
    this.#tap.reset();
    const reply = await this.callTool(this.names.search, args, sender);
    const { tools, context } = this.#tap;
    return {
      reply,
      names: tools.map(this.gateway === undefined ? nameOf : ownNameOf),
      total: context.total,
      tools,
      context,
    };
  }

  /** A tools/call over the wire. Never rejects: what was thrown is part of the reply. */
  async callTool(name: string, args: unknown, sender: Sender = {}): Promise<Reply> {
    const { caller = {}, signal, id } = sender;
    const connection = await this.#connectionOrRefusal(sender);
    const start = performance.now();
    let outcome: { result: CallToolResult } | { thrown: unknown };
    try {
      if (connection === undefined) throw this.#refused;
      outcome = { result: await connection.callTool(name, args, { caller, signal, id }) };
    } catch (thrown) {
      outcome = { thrown };
    }
    const reply = new Reply(outcome, performance.now() - start);
    this.replies.push(reply);
    return reply;
  }

  async #connectionOrRefusal(sender: Sender): Promise<Connection | undefined> {
    try {
      return await this.connection(sender);
    } catch (error) {
      this.#refused = refusedConfiguration(error);
      return undefined;
    }
  }

  async listTools(): Promise<OuterTool[]> {
    return (await this.connection()).listTools();
  }

  async close(): Promise<void> {
    for (const connection of this.#connections.values()) {
      await connection.then(
        (open) => open.close(),
        () => undefined,
      );
    }
    await this.#http?.host.close();
    await this.gateway?.close();
  }
}

const nameOf = ({ name }: ShownTool): string => name;

/** The name of a tool within its upstream: cases speak of that one. */
function ownNameOf({ name, _meta }: ShownTool): string {
  const own = (_meta as Json | undefined)?.["mcp-codemode/name"];
  return typeof own === "string" ? own : name;
}

/** The error, when the library refused its configuration. @throws {Todo} for an option it does not have yet; any other error as it is. */
function refusedConfiguration(error: unknown): Error {
  if (!(error instanceof Error) || error.name !== "ConfigurationError") throw error;
  if (/unknown option/i.test(error.message)) throw new Todo(error.message);
  return error;
}

/** The caller of a step or case. @throws {Todo} for a form that is not known. */
export function callerOf(value: unknown): Caller {
  if (value === undefined) return {};
  if (typeof value === "string") return { authInfo: { clientId: value, token: value, scopes: [] } };
  const { authInfo, sessionId, ...rest } = asJson(value, "caller");
  if (Object.keys(rest).length > 0) throw new Todo(`caller: unknown key ${Object.keys(rest).join(", ")}`);
  return {
    ...(authInfo === undefined ? {} : { authInfo }),
    ...(sessionId === undefined ? {} : { sessionId: asText(sessionId, "caller.sessionId") }),
  };
}
