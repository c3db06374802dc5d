import type { Command } from "commander";
import { identifiersFor, stringLiteral } from "../catalog/identifiers.js";
import { declarations } from "../catalog/typescript.js";
import { ownNameOf, serverOf, type Tool } from "../catalog/tool.js";
import { openGateway, type GatewayArguments } from "./open-gateway.js";
import { addGatewayOptions, examples } from "./options.js";
import type { CommandContext } from "./program.js";
import { write, type Terminal } from "./terminal.js";

/** `types`: declarations of everything a script can use, so that an editor checks it. */
export function addTypes(program: Command, context: CommandContext): void {
  const command = program
    .command("types")
    .description("Print a .d.ts of all tools, so that scripts are checked and completed in an editor.");
  addGatewayOptions(command)
    .addHelpText("after", examples("mcp-codemode types --config mcp.json > tools.d.ts"))
    .action((args: GatewayArguments) => types(args, context.terminal));
}

async function types(args: GatewayArguments, terminal: Terminal): Promise<void> {
  const { gateway, close } = await openGateway(args, terminal);
  try {
    await write(terminal.stdout, declarationFile(await gateway.codeMode.listTools()));
  } finally {
    await close();
  }
}

/** The declarations of a catalog and of the other globals of scripts. */
export function declarationFile(tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => `\n  | ${stringLiteral(name)}`).join("");
  return `// Made by \`mcp-codemode types\`: what scripts can use.

/** The tools that there were. */
declare type ToolName =${names === "" ? " never" : names};

/** Calls a tool: its structured content, else its text. */
declare function call_tool(name: ToolName, params?: object): Promise<any>;
/** Finds tools. */
declare function search_tools(query?: string, options?: { limit?: number; server?: string }): Promise<any[]>;
/** The definitions of tools. */
declare function get_schema(names: string | readonly string[]): Promise<any>;
/** What the host gave with \`--env\`. */
declare const env: Readonly<Record<string, string>>;
/** What the host gave after \`--\`. */
declare const args: readonly string[];

${declarations(tools)}${serverNamespaces(tools)}`;
}

/** The same functions by server: `tools.files.read_file` is `tools.files__read_file`. */
function serverNamespaces(tools: readonly Tool[]): string {
  const identifiers = identifiersFor(tools.map(({ name }) => name));
  const servers = groupByServer(tools);
  const serverIdentifiers = identifiersFor(servers.keys());
  return [...servers]
    .map(([server, own]) => {
      const names = identifiersFor(own.map(ownNameOf));
      const lines = own.map((tool) => {
        return `  export import ${names.get(ownNameOf(tool))} = tools.${identifiers.get(tool.name)};\n`;
      });
      return `\ndeclare namespace tools.${serverIdentifiers.get(server)} {\n${lines.join("")}}\n`;
    })
    .join("");
}

function groupByServer(tools: readonly Tool[]): Map<string, Tool[]> {
  const servers = new Map<string, Tool[]>();
  for (const tool of tools) {
    const server = serverOf(tool);
    if (server === undefined) continue;
    const own = servers.get(server) ?? [];
    servers.set(server, own);
    own.push(tool);
  }
  return servers;
}
