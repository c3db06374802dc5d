import { Option, type Command } from "commander";
import type { Gateway } from "../gateway/gateway.js";
import { loadServerSdk } from "../gateway/sdk.js";
import type { ServerMode } from "../gateway/servers.js";
import { openGateway, type GatewayArguments } from "./open-gateway.js";
import { addGatewayOptions, collect, examples, milliseconds, wholeNumber } from "./options.js";
import type { CommandContext } from "./program.js";
import type { Terminal } from "./terminal.js";

interface ServeArguments extends GatewayArguments {
  http?: number | true;
  host: string;
  mode: ServerMode;
  allowHost?: readonly string[];
  allowOrigin?: readonly string[];
  drain: number;
}

const DEFAULT_PORT = 8_000;
const DEFAULT_DRAIN_MS = 10_000;
/** Clients give up on initialize after 60 s; what starts later joins by list_changed. */
const STARTUP_WAIT_MS = 10_000;

/** `serve`: the gateway, for one client over stdio or for many by HTTP. */
export function addServe(program: Command, context: CommandContext): void {
  const command = program
    .command("serve")
    .description("Serve the tools of all configured servers: over stdio, or by HTTP with --http.")
    .option(
      "--http [port]",
      `serve /mcp, /mcp/code and /health by HTTP (default port ${DEFAULT_PORT})`,
      wholeNumber(0, 65_535),
    )
    .option("--host <address>", "address to bind to; beyond loopback MCP_CODEMODE_TOKEN must be set", "127.0.0.1")
    .addOption(
      new Option("--mode <mode>", "what a client over stdio sees").choices(["code", "classic"]).default("code"),
    )
    .option("--allow-host <name>", "further name under which clients reach it", collect)
    .option("--allow-origin <origin>", "origin of web pages that may use it", collect)
    .option("--drain <time>", "how long a shutdown waits for scripts that run", milliseconds, DEFAULT_DRAIN_MS);
  addGatewayOptions(command)
    .addHelpText(
      "after",
      `\nBy HTTP, /mcp lists every tool and /mcp/code has search and execute. When MCP_CODEMODE_TOKEN is set, clients must\nsend it as a bearer token.\n${examples(
        "mcp-codemode serve --config ~/.cursor/mcp.json",
        "mcp-codemode serve --config mcp.json --http 8000",
        "MCP_CODEMODE_TOKEN=$(openssl rand -hex 24) mcp-codemode serve -c mcp.json --http 8000 --host 0.0.0.0",
      )}`,
    )
    .action((args: ServeArguments) => serve(args, context.terminal));
}

async function serve(args: ServeArguments, terminal: Terminal): Promise<void> {
  await loadServerSdk();
  const stopped = stopSignal();
  const opened = await openGateway(args, terminal, {
    startupWaitMs: STARTUP_WAIT_MS,
    defaultLogLevel: args.http === undefined ? "warn" : "info",
  });
  try {
    if (args.http === undefined) await serveStdio(opened.gateway, args, terminal, stopped);
    else await serveHttp(opened.gateway, args, terminal, stopped);
  } finally {
    await opened.close({ drainMs: args.drain });
  }
}

async function serveStdio(
  gateway: Gateway,
  { mode }: ServeArguments,
  terminal: Terminal,
  stopped: Promise<void>,
): Promise<void> {
  const { stdin, stdout } = terminal;
  const endpoint = await gateway.serveStdio({ mode, stdin, stdout });
  await Promise.race([endpoint.ended, stopped]);
}

async function serveHttp(
  gateway: Gateway,
  args: ServeArguments,
  { env, stderr }: Terminal,
  stopped: Promise<void>,
): Promise<void> {
  const token = env["MCP_CODEMODE_TOKEN"];
  const { url } = await gateway.listen({
    port: args.http === true ? DEFAULT_PORT : (args.http ?? DEFAULT_PORT),
    host: args.host,
    ...(token === undefined || token === "" ? {} : { token }),
    allowedHosts: args.allowHost ?? [],
    allowedOrigins: args.allowOrigin ?? [],
  });
  stderr.write(`Code mode: ${url}/mcp/code\nEvery tool: ${url}/mcp\nHealth: ${url}/health\n`);
  await stopped;
}

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, as somebody who sends it wants. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve();
      });
    }
  });
}
