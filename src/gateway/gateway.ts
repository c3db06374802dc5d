import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ArgumentPlans } from "../calls/arguments.js";
import type { ToolSource } from "../catalog/tool.js";
import { createCodeMode } from "../create-code-mode.js";
import type { CodeMode } from "../meta-tools/meta-tool.js";
import { toExecResult, type ExecResult } from "../meta-tools/results/process.js";
import type { CodeModeOptions } from "../options.js";
import { VERSION } from "../version.js";
import type { GatewayConfig } from "./config.js";
import { DirectTools } from "./direct-tools.js";
import { listen, type Endpoint, type HttpEndpoint, type ListenOptions } from "./endpoints/http-endpoint.js";
import { serveStdio, type StdioEndpoint } from "./endpoints/stdio-endpoint.js";
import { engineOptions } from "./engine-options.js";
import { Emitter, type GatewayEvents } from "./events.js";
import { resolveConfig, type ReadOptions, type ResolvedConfig } from "./resolve-config.js";
import type { ResolvedUpstream } from "./resolved-upstream.js";
import { optionsForRun, type RunOptions } from "./run-options.js";
import { buildServer, gatewayTransform, type ServerMode, type ServerParts } from "./servers.js";
import { atMost, GatewaySource, type BrokenUpstream } from "./source.js";
import { Upstream, type UpstreamStatus } from "./upstream/upstream.js";

/** Options of {@link createGateway}. */
export interface GatewayOptions extends ReadOptions {
  /** How the gateway introduces itself. @default "mcp-codemode" */
  name?: string;
  /** The first list waits this long for upstreams that still start, in milliseconds. @default 5000 */
  startupWaitMs?: number;
  /** Hears the events of the gateway from the very first on. */
  onLog?: (line: GatewayEvents["log"]) => void;
}

/** Many MCP servers as one. */
export interface Gateway {
  /** The tools of all upstreams, for an engine or a server of your own. */
  readonly source: ToolSource;
  /** The engine over them: search and execute without a server. */
  readonly codeMode: CodeMode;
  /** Where each upstream stands, in the order of the configuration. */
  status(): readonly UpstreamStatus[];
  /** Resolves when every upstream has been tried once, however long that takes. */
  ready(): Promise<void>;
  /** Hears an event; returns a function that stops it. Does not replace anything the gateway or the SDK listens to itself. */
  on<E extends keyof GatewayEvents>(event: E, listener: (event: GatewayEvents[E]) => void): () => void;
  /** An MCP server of the SDK, not yet connected: "code" has search and execute, "classic" every tool. @default "code" */
  createServer(mode?: ServerMode): Promise<Server>;
  /** Serves one client over stdin and stdout. */
  serveStdio(options?: { mode?: ServerMode; stdin?: Readable; stdout?: Writable }): Promise<StdioEndpoint>;
  /** Serves `/mcp`, `/mcp/code` and `/health` by HTTP, on loopback unless told otherwise. */
  listen(options?: ListenOptions): Promise<HttpEndpoint>;
  /** Runs a script. Never rejects for what it did. */
  run(code: string, options?: RunOptions): Promise<ExecResult>;
  /** Runs the script in a file. */
  runFile(path: string, options?: RunOptions): Promise<ExecResult>;
  /** Starts an upstream now that waits or is parked. Resolves when that was tried. */
  restart(id: string): Promise<void>;
  /**
   * Ends everything: endpoints first (`drainMs`: how long they wait for what runs), then upstreams. Calls under way fail
   * with an error that says "closed". Resolves when every process is gone; a second time changes nothing.
   */
  close(options?: { drainMs?: number }): Promise<void>;
}

const DEFAULT_STARTUP_WAIT_MS = 5_000;
/** Replies to calls that the end of the gateway cut off need a moment to get out. */
const LAST_WORDS_MS = 500;

/**
 * Starts a gateway: reads the configuration and starts every upstream, all at once. An upstream that cannot be read,
 * started or reached takes nothing down: its tools are absent, and search says why.
 *
 * @param config What MCP clients have in their files: {@link readGatewayConfig} reads one.
 * @throws {ConfigurationError} when the configuration has no servers, or options that code mode does not know.
 *
 * @example
 * const gateway = await createGateway({
 *   mcpServers: { memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] } },
 * });
 * const { result } = await gateway.run("return (await tools.memory.read_graph()).entities.length");
 * await gateway.close();
 */
export async function createGateway(config: GatewayConfig, options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = new McpGateway(await resolveConfig(config, options), config.codeMode, options);
  gateway.start();
  return gateway;
}

class McpGateway implements Gateway {
  readonly source: GatewaySource;
  readonly codeMode: CodeMode;
  readonly #events = new Emitter();
  readonly #upstreams = new Map<string, Upstream>();
  readonly #resolved: ResolvedConfig;
  readonly #options: CodeModeOptions;
  readonly #parts: ServerParts;
  readonly #endpoints = new Set<Endpoint>();
  readonly #startupWaitMs: number;
  #ready: Promise<void> = Promise.resolve();
  #settle: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(resolved: ResolvedConfig, codeMode: GatewayConfig["codeMode"], options: GatewayOptions) {
    const { name = "mcp-codemode", startupWaitMs = DEFAULT_STARTUP_WAIT_MS, onLog } = options;
    if (onLog !== undefined) this.#events.on("log", onLog);
    this.#resolved = resolved;
    this.#startupWaitMs = startupWaitMs;
    const usable = new Map<string, ResolvedUpstream>();
    const broken: BrokenUpstream[] = [];
    for (const [id, resolution] of resolved.upstreams) {
      if ("upstream" in resolution) usable.set(id, resolution.upstream);
      else if ("error" in resolution) broken.push({ id, error: resolution.error });
    }
    for (const [id, upstream] of usable) this.#upstreams.set(id, this.#upstream(upstream));
    const settled = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    this.source = new GatewaySource(this.#upstreams, broken, settled);
    this.#options = engineOptions(codeMode, usable);
    this.codeMode = createCodeMode(this.source, this.#options);
    const tools = new DirectTools({
      source: this.source,
      plans: new ArgumentPlans(this.#options),
      policy: this.#options.policy,
    });
    const info = { name, version: VERSION };
    const transform = gatewayTransform(this.#options, { source: this.source, tools });
    this.#parts = { info, source: this.source, tools, transform, upstreams: this.#upstreams };
  }

  #upstream(config: ResolvedUpstream): Upstream {
    return new Upstream(config, {
      secrets: this.#resolved.secrets,
      events: this.#events,
      onChange: () => {
        this.source.changed();
        this.#events.emit("toolsChanged", {});
      },
    });
  }

  start(): void {
    for (const [id, resolution] of this.#resolved.upstreams) {
      if ("error" in resolution) {
        this.#events.emit("log", { level: "error", upstream: id, message: resolution.error });
      }
    }
    const all = Promise.all([...this.#upstreams.values()].map((upstream) => upstream.start()));
    this.#ready = all.then(() => {});
    void atMost(all, this.#startupWaitMs).then(this.#settle);
  }

  ready(): Promise<void> {
    return this.#ready;
  }

  on: Gateway["on"] = (event, listener) => this.#events.on(event, listener);

  status(): readonly UpstreamStatus[] {
    return [...this.#resolved.upstreams].map(([id, resolution]): UpstreamStatus => {
      const nothing = { id, tools: 0, starts: 0, relists: 0 };
      if ("error" in resolution) return { ...nothing, state: "failed", reason: resolution.error };
      return this.#upstreams.get(id)?.status() ?? { ...nothing, state: "disabled" };
    });
  }

  createServer(mode: ServerMode = "code"): Promise<Server> {
    return buildServer(mode, this.#parts);
  }

  async serveStdio({
    mode = "code",
    stdin = process.stdin,
    stdout = process.stdout,
  }: { mode?: ServerMode; stdin?: Readable; stdout?: Writable } = {}): Promise<StdioEndpoint> {
    const endpoint = await serveStdio(await this.createServer(mode), stdin, stdout);
    this.#endpoints.add(endpoint);
    return endpoint;
  }

  async listen(options: ListenOptions = {}): Promise<HttpEndpoint> {
    const endpoint = await listen(
      { build: (mode) => this.createServer(mode), health: () => ({ upstreams: this.status() }) },
      options,
    );
    this.#endpoints.add(endpoint);
    return endpoint;
  }

  async run(code: string, options: RunOptions = {}): Promise<ExecResult> {
    const engine = createCodeMode(this.source, optionsForRun(this.#options, options));
    const { signal, inputs, captureOutput = true } = options;
    try {
      const outcome = await engine.execute(
        { code, ...(inputs === undefined ? {} : { inputs: { ...inputs } }) },
        signal === undefined ? {} : { signal },
      );
      const result = toExecResult(outcome);
      return captureOutput ? result : { ...result, stdout: "", stderr: "" };
    } finally {
      await engine.close();
    }
  }

  async runFile(path: string, options: RunOptions = {}): Promise<ExecResult> {
    return this.run(await readFile(path, "utf8"), options);
  }

  async restart(id: string): Promise<void> {
    const upstream = this.#upstreams.get(id);
    if (upstream !== undefined && upstream.state !== "ready") await upstream.start();
  }

  close({ drainMs = 0 }: { drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    const endpoints = [...this.#endpoints];
    // Upstreams live as long as scripts do that were promised to come to their end.
    if (drainMs > 0) await Promise.all(endpoints.map((endpoint) => endpoint.close({ drainMs })));
    const upstreams = Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()));
    this.#settle();
    await Promise.all(endpoints.map((endpoint) => endpoint.close({ drainMs: LAST_WORDS_MS })));
    await upstreams;
    await this.codeMode.close();
  }
}
