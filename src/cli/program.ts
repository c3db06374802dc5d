import { Command, CommanderError } from "commander";
import { CodeModeError, messageOf } from "../errors.js";
import { SDK_MISSING } from "../gateway/sdk.js";
import { VERSION } from "../version.js";
import { addDoctor } from "./doctor.js";
import { EXIT, UsageError } from "./errors.js";
import { addExec } from "./exec.js";
import { examples } from "./options.js";
import { addSearch } from "./search.js";
import { addServe } from "./serve.js";
import { processTerminal, type Terminal } from "./terminal.js";
import { addTypes } from "./types.js";

/** What a command gets, and where its exit code goes. */
export interface CommandContext {
  terminal: Terminal;
  exitCode: number;
}

/**
 * Runs the command line.
 *
 * @param argv The arguments after the name of the program.
 * @returns the exit code: 0 success, 1 the script failed or the doctor found something, 2 wrong arguments or configuration.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const context: CommandContext = { terminal, exitCode: EXIT.ok };
  try {
    await buildProgram(context).parseAsync([...argv], { from: "user" });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    terminal.stderr.write(`${explain(error, argv)}\n`);
    return EXIT.usage;
  }
}

function buildProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.terminal;
  const program = new Command("mcp-codemode")
    .description("Many MCP servers behind one: their tools as they are, and behind search and execute.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError("(--help shows what there is)")
    .addHelpText(
      "after",
      examples(
        "mcp-codemode serve --config mcp.json             # one client over stdio",
        "mcp-codemode serve --config mcp.json --http 8000 # /mcp and /mcp/code",
        "mcp-codemode exec script.ts --config mcp.json",
        "mcp-codemode doctor",
      ),
    );
  for (const add of [addServe, addExec, addSearch, addTypes, addDoctor]) add(program, context);
  return program;
}

function explain(error: unknown, argv: readonly string[]): string {
  if (error instanceof UsageError) return error.message;
  const details = CodeModeError.isInstance(error) ? (error.details as { reason?: unknown } | undefined) : undefined;
  if (details?.reason === SDK_MISSING) return missingSdk(argv);
  return `error: ${messageOf(error)}`;
}

/** The package is an optional peer, so `npx mcp-codemode` alone does not bring it. */
function missingSdk(argv: readonly string[]): string {
  const command = ["npx -p mcp-codemode -p @modelcontextprotocol/sdk mcp-codemode", ...argv.map(quoted)].join(" ");
  return `This command needs the package @modelcontextprotocol/sdk. Run:\n  ${command}\nor install it beside mcp-codemode: npm install @modelcontextprotocol/sdk`;
}

const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
