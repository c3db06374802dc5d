import { createWriteStream, type WriteStream } from "node:fs";
import { relative } from "node:path";
import { findGatewayConfig, readGatewayConfig } from "../gateway/config-file.js";
import type { GatewayConfig } from "../gateway/config.js";
import type { LogLevel, LogLine } from "../gateway/events.js";
import { createGateway, type Gateway } from "../gateway/gateway.js";
import { loadClientSdk } from "../gateway/sdk.js";
import { UsageError } from "./errors.js";
import { painter, type Terminal } from "./terminal.js";

/** Options of every command that needs upstreams. */
export interface GatewayArguments {
  config?: string;
  input?: readonly string[];
  logLevel?: LogLevel;
  logFile?: string;
}

/** A gateway of the command line. */
export interface OpenGateway {
  gateway: Gateway;
  config: GatewayConfig;
  configPath: string;
  close: (options?: { drainMs?: number }) => Promise<void>;
}

/** A command waits for slow upstreams: a first `npx` downloads a package. */
const STARTUP_WAIT_MS = 60_000;
/** From then on somebody at a terminal is told what is waited for. */
const PATIENCE_MS = 1_500;

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * Reads the configuration and starts its upstreams.
 *
 * @throws {UsageError} when there is no configuration.
 * @throws {ConfigurationError} when it cannot be used, or the SDK is missing.
 */
export async function openGateway(
  args: GatewayArguments,
  terminal: Terminal,
  { startupWaitMs = STARTUP_WAIT_MS, defaultLogLevel = "warn" as LogLevel } = {},
): Promise<OpenGateway> {
  const configPath = args.config ?? findGatewayConfig(terminal.cwd);
  if (configPath === undefined) throw noConfiguration();
  const config = await readGatewayConfig(configPath);
  // Before anything is started: without it every upstream would fail, each in its own words.
  await loadClientSdk();
  const log = new Log(terminal, args, defaultLogLevel);
  const gateway = await createGateway(config, {
    env: terminal.env,
    ask: ({ id }) => givenInput(id, args.input ?? [], terminal),
    startupWaitMs,
    onLog: (line) => log.write(line),
  });
  const patience = waitingNotice(gateway, terminal);
  return {
    gateway,
    config,
    configPath: relative(terminal.cwd, configPath) || configPath,
    async close(options) {
      clearTimeout(patience);
      await gateway.close(options);
      await log.close();
    },
  };
}

function noConfiguration(): UsageError {
  return new UsageError(
    "There is no configuration: give one with --config FILE. Without it mcp.json, .mcp.json, .cursor/mcp.json and .vscode/mcp.json of this folder are tried.",
  );
}

/** `--input id=value`, else the environment, where other users of the machine cannot see it. */
function givenInput(id: string, inputs: readonly string[], { env }: Terminal): string | undefined {
  const given = inputs.find((input) => input.startsWith(`${id}=`));
  if (given !== undefined) return given.slice(id.length + 1);
  return env[`MCP_CODEMODE_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`];
}

function waitingNotice(gateway: Gateway, { stderr }: Terminal): NodeJS.Timeout | undefined {
  if (stderr.isTTY !== true) return undefined;
  return setTimeout(() => {
    const waiting = gateway.status().filter(({ state }) => state === "starting");
    if (waiting.length > 0) stderr.write(`Waiting for ${waiting.map(({ id }) => id).join(", ")} ...\n`);
  }, PATIENCE_MS).unref();
}

/** The gateway's log: to stderr, which is not the protocol's, or to a file. */
class Log {
  readonly #file: WriteStream | undefined;
  readonly #least: number;
  readonly #paint: ReturnType<typeof painter>;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, { logLevel, logFile }: GatewayArguments, defaultLevel: LogLevel) {
    this.#terminal = terminal;
    this.#least = LEVELS.indexOf(logLevel ?? defaultLevel);
    this.#paint = painter(terminal.stderr, terminal.env);
    this.#file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: "a", mode: 0o600 });
  }

  write({ level, upstream, message }: LogLine): void {
    if (LEVELS.indexOf(level) < this.#least) return;
    const text = `${upstream === undefined ? "" : `${upstream}: `}${message}`;
    if (this.#file !== undefined) {
      this.#file.write(`${new Date().toISOString()} ${level} ${text}\n`);
      return;
    }
    const colour = level === "error" ? "red" : level === "warn" ? "yellow" : "dim";
    this.#terminal.stderr.write(`${this.#paint(level, colour)} ${text}\n`);
  }

  close(): Promise<void> {
    const file = this.#file;
    return file === undefined ? Promise.resolve() : new Promise((resolve) => file.end(() => resolve()));
  }
}
