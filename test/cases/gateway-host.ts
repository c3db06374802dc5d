import { fileURLToPath } from "node:url";
import {
  createGateway,
  type Gateway,
  type GatewayConfig,
  type TokenProvider,
  type UpstreamConfig,
} from "mcp-codemode/gateway";
import { HttpUpstream } from "../gateway/fixtures/http-upstream.js";
import { isKnownHandler, type ServerSpec } from "../gateway/fixtures/scripted-server.mjs";
import { asJson, asList, asText, type Json, knownKeys, Todo } from "./case.js";
import type { Options } from "./config.js";
import { ROOT } from "./host-facts.js";
import type { ServerUnderTest } from "./servers.js";

const UPSTREAM_KEYS = [
  ["id", "tools", "generateTools", "command", "env", "toolTimeoutMs", "connectTimeoutMs", "tokenProvider", "behaviour"],
  ["prefix"],
].flat();
const TOOL_KEYS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "on", "broken"];
const BEHAVIOURS = [
  ["exitCode", "exitAfterMs", "exitOnCall", "initializeDelayMs", "changeAfterMs", "remove", "add", "notifications"],
  ["repeatCursor", "stdoutNoise", "stderrBytes", "ignoreTermMs", "unauthorizedAfterCalls", "http"],
].flat();
const PROGRAM = fileURLToPath(new URL("test/gateway/fixtures/scripted-upstream.mjs", `file://${ROOT}`));

/** @throws {Todo} for an upstream that the fixtures cannot play. */
export function checkUpstreams(upstreams: unknown): void {
  for (const entry of asList(upstreams, "upstreams")) {
    const upstream = asJson(entry, "upstream");
    knownKeys(upstream, UPSTREAM_KEYS, "upstream");
    knownKeys(upstream["behaviour"] ?? {}, BEHAVIOURS, "behaviour");
    if (![undefined, "counting"].includes(upstream["tokenProvider"] as string)) throw new Todo("unknown tokenProvider");
    for (const tool of asList(upstream["tools"] ?? [], "upstream.tools")) {
      const { on } = asJson(tool, "tool");
      knownKeys(tool, TOOL_KEYS, "tool of an upstream");
      if (on !== undefined && !isKnownHandler(asJson(on, "on"))) {
        throw new Todo(`no handler of an upstream for ${JSON.stringify(on)}`);
      }
    }
  }
}

/** The gateway of one world, with its fixture servers, and what is known of both. */
export class GatewayHost {
  readonly #upstreams: readonly Json[];
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #options: () => Options;
  readonly #http: HttpUpstream[] = [];
  readonly #heard: string[] = [];
  readonly #calls = new Map<string, number>();
  readonly #tokens = { asked: 0, refreshes: 0 };
  #gateway: Promise<Gateway> | undefined;
  /** Milliseconds until the tools could be listed. */
  startMs = 0;
  /** Everything that the gateway logged. */
  readonly log: string[] = [];

  constructor(upstreams: readonly unknown[], env: unknown, options: () => Options) {
    this.#upstreams = upstreams.map((upstream) => asJson(upstream, "upstream"));
    const { PATH, HOME } = process.env;
    this.#env = { PATH, HOME, ...(env === undefined ? {} : (asJson(env, "env") as Record<string, string>)) };
    this.#options = options;
  }

  get gateway(): Promise<Gateway> {
    this.#gateway ??= this.#open();
    return this.#gateway;
  }

  async #open(): Promise<Gateway> {
    const start = performance.now();
    const entries = await Promise.all(this.#upstreams.map((upstream) => this.#configOf(upstream)));
    const config = { mcpServers: Object.fromEntries(entries), codeMode: this.#options() } as GatewayConfig;
    const gateway = await createGateway(config, {
      env: this.#env,
      onLog: ({ level, upstream, message }) => this.log.push(`${level} ${upstream ?? ""} ${message}`),
    });
    await gateway.source.listTools({ signal: new AbortController().signal });
    this.startMs = performance.now() - start;
    this.#countCalls(gateway);
    return gateway;
  }

  async #configOf(upstream: Json): Promise<[string, UpstreamConfig]> {
    const { id, command, env, toolTimeoutMs, connectTimeoutMs, prefix } = upstream;
    const name = asText(id, "upstream.id");
    const common = Object.fromEntries(
      Object.entries({ toolTimeoutMs, connectTimeoutMs, prefix }).filter(([, value]) => value !== undefined),
    ) as UpstreamConfig;
    if (asJson(upstream["behaviour"] ?? {}, "behaviour")["http"] === true) {
      const server = new HttpUpstream(specOf(upstream));
      this.#http.push(server);
      return [name, { ...common, url: await server.listen(), ...this.#tokenProvider(upstream) }];
    }
    // As base64, since a configuration expands what looks like a reference.
    const spec = Buffer.from(JSON.stringify(specOf(upstream))).toString("base64");
    const own = { ...(env as Record<string, string> | undefined), UPSTREAM_SPEC: spec };
    const program =
      command === undefined ? { command: process.execPath, args: [PROGRAM] } : { command: asText(command, "command") };
    return [name, { ...common, ...program, env: own }];
  }

  #tokenProvider({ tokenProvider }: Json): { tokenProvider?: TokenProvider } {
    if (tokenProvider === undefined) return {};
    return {
      tokenProvider: ({ refresh }) => {
        if (refresh) this.#tokens.refreshes++;
        return `counted-token-${++this.#tokens.asked}`;
      },
    };
  }

  #countCalls({ source }: Gateway): void {
    const inner = source.callTool.bind(source);
    source.callTool = async (name, args, context) => {
      this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
      return inner(name, args, context);
    };
  }

  /** A server of the gateway, as the runner connects to servers. */
  server(): ServerUnderTest {
    let server: Awaited<ReturnType<Gateway["createServer"]>> | undefined;
    return {
      connect: async (transport) => {
        server = await (await this.gateway).createServer("code");
        await server.connect(transport as never);
      },
      close: async () => server?.close(),
    };
  }

  /** Calls that reached a tool, by the gateway's name or the tool's own. */
  callsOf(name: string): number {
    return [...this.#calls].reduce(
      (sum, [key, count]) => (key === name || key.endsWith(`__${name}`) ? sum + count : sum),
      0,
    );
  }

  async listen(upstream: string, events: readonly string[]): Promise<void> {
    for (const event of events) {
      if (event !== "close" && event !== "error") throw new Todo(`no event ${event}`);
      (await this.gateway).on(event, (told) => {
        if (told.upstream === upstream && !this.#heard.includes(event)) this.#heard.push(event);
      });
    }
  }

  async kill(upstream: string): Promise<void> {
    const pid = (await this.gateway).status().find(({ id }) => id === upstream)?.pid;
    if (pid === undefined) throw new Todo(`the upstream ${upstream} has no process`);
    process.kill(pid, "SIGKILL");
  }

  /** What can be asserted. */
  async facts(): Promise<GatewayFacts> {
    const gateway = await this.gateway;
    const status = gateway.status();
    return {
      startMs: this.startMs,
      failedUpstreams: status
        .filter(({ state }) => ["waiting", "parked", "failed"].includes(state))
        .map(({ id }) => id),
      starts: new Map(status.map(({ id, starts }) => [id, starts])),
      relists: status.reduce((sum, { relists }) => sum + relists, 0),
      tools: (await gateway.source.listTools({ signal: new AbortController().signal })).map(({ name }) => name),
      listenersCalled: this.#heard,
      refreshes: this.#tokens.refreshes,
    };
  }

  async close(): Promise<void> {
    await (await this.#gateway)?.close();
    await Promise.all(this.#http.splice(0).map((server) => server.close()));
  }
}

/** Facts of a gateway. */
export interface GatewayFacts {
  startMs: number;
  failedUpstreams: readonly string[];
  starts: ReadonlyMap<string, number>;
  relists: number;
  tools: readonly string[];
  listenersCalled: readonly string[];
  refreshes: number;
}

const specOf = ({ id, tools, generateTools, behaviour }: Json): ServerSpec =>
  JSON.parse(JSON.stringify({ id, tools, generateTools, behaviour })) as ServerSpec;
