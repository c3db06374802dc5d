import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { messageOf } from "../errors.js";
import type { ExecResult } from "../meta-tools/results/process.js";
import { EXIT, UsageError } from "./errors.js";
import { openGateway, type GatewayArguments } from "./open-gateway.js";
import { addGatewayOptions, collect, examples, keyValues, milliseconds } from "./options.js";
import type { CommandContext } from "./program.js";
import { isForPeople, painter, write, writeJson, type Terminal } from "./terminal.js";

interface ExecArguments extends GatewayArguments {
  env?: readonly string[];
  timeout?: number;
  json?: boolean;
}

/** `exec`: one script against the configured servers, without a gateway that stays. */
export function addExec(program: Command, context: CommandContext): void {
  const command = program
    .command("exec")
    .description("Run a script that calls the tools of the configured servers.")
    .argument("<script>", "file with JavaScript or TypeScript; - reads stdin")
    .argument("[args...]", "what the script reads as `args`, after --")
    .option("-e, --env <name=value>", "what the script reads as `env`", collect)
    .option("-t, --timeout <time>", "longest time, such as 30s", milliseconds)
    .option("--json", "print the whole result as JSON, also on a terminal");
  addGatewayOptions(command)
    .addHelpText(
      "after",
      `\nPrints stdout, stderr, result, error, returncode, duration_seconds and tool_calls as JSON when piped or with --json.\nExits with 0 only when the script succeeded.\n${examples(
        "mcp-codemode exec report.ts --config mcp.json",
        "mcp-codemode exec report.ts -c mcp.json --env TEAM=web --timeout 2m -- 2026 --all",
        "echo 'return await search_tools(\"files\")' | mcp-codemode exec - -c mcp.json | jq .result",
      )}`,
    )
    .action(async (script: string, scriptArguments: string[], args: ExecArguments) => {
      context.exitCode = await exec(script, scriptArguments, args, context.terminal);
    });
}

async function exec(
  script: string,
  scriptArguments: readonly string[],
  args: ExecArguments,
  terminal: Terminal,
): Promise<number> {
  const code = await readScript(script, terminal);
  const env = keyValues(args.env ?? []);
  const { gateway, close } = await openGateway(args, terminal);
  try {
    const live = isForPeople(terminal, args);
    const result = await gateway.run(code, {
      env,
      args: scriptArguments,
      ...(args.timeout === undefined ? {} : { timeoutMs: args.timeout }),
    });
    await (live ? printForPeople(result, terminal) : writeJson(terminal.stdout, result));
    return result.returncode === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await close();
  }
}

async function readScript(script: string, { stdin, cwd }: Terminal): Promise<string> {
  if (script === "-") return text(stdin);
  try {
    return await readFile(resolve(cwd, script), "utf8");
  } catch (cause) {
    throw new UsageError(`The script cannot be read: ${messageOf(cause)}`, { cause });
  }
}

async function printForPeople(result: ExecResult, { stdout, stderr, env }: Terminal): Promise<void> {
  const paint = painter(stderr, env);
  const lines = (output: string): string => (output === "" || output.endsWith("\n") ? output : `${output}\n`);
  await write(stdout, lines(result.stdout));
  await write(stderr, lines(result.stderr));
  if (result.error !== null) await write(stderr, `${paint(result.error, "red")}\n`);
  const value = result.result;
  if (value !== null) await write(stdout, lines(typeof value === "string" ? value : JSON.stringify(value, null, 2)));
  const calls = result.tool_calls.length;
  await write(
    stderr,
    paint(`${calls} ${calls === 1 ? "call" : "calls"}, ${result.duration_seconds.toFixed(2)} s\n`, "dim"),
  );
}
