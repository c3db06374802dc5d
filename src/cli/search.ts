import { Option, type Command } from "commander";
import { createCodeMode } from "../create-code-mode.js";
import type { CallToolResult } from "../catalog/tool.js";
import type { SearchArguments } from "../meta-tools/meta-tool.js";
import { jsonSerializer } from "../search/serializers/json.js";
import type { Detail } from "../search/serializers/serializer.js";
import { EXIT } from "./errors.js";
import { openGateway, type GatewayArguments } from "./open-gateway.js";
import { addGatewayOptions, examples, wholeNumber } from "./options.js";
import type { CommandContext } from "./program.js";
import { isForPeople, write, type Terminal } from "./terminal.js";

interface SearchOptions extends GatewayArguments {
  server?: string;
  detail?: Detail;
  limit?: number;
  json?: boolean;
}

/** `search`: what a model would find. */
export function addSearch(program: Command, context: CommandContext): void {
  const command = program
    .command("search")
    .description("Find tools of the configured servers, as a model would with search.")
    .argument("[query...]", "words, or exact names separated by commas; none: all tools in name order")
    .option("-s, --server <id>", "only tools of this server")
    .addOption(
      new Option("-d, --detail <detail>", "how much of each tool").choices(["brief", "signature", "detailed", "full"]),
    )
    .option("-n, --limit <count>", "most tools to show", wholeNumber(1))
    .option("--json", "print JSON, also on a terminal");
  addGatewayOptions(command)
    .addHelpText(
      "after",
      examples(
        "mcp-codemode search read a file --config mcp.json",
        "mcp-codemode search --server github --detail full create_issue",
        "mcp-codemode search issues --limit 20 | jq '.[].name'",
      ),
    )
    .action(async (query: string[], options: SearchOptions) => {
      context.exitCode = await search(query.join(" "), options, context.terminal);
    });
}

async function search(query: string, options: SearchOptions, terminal: Terminal): Promise<number> {
  const { gateway, close } = await openGateway(options, terminal);
  try {
    const { server, detail, limit } = options;
    const args: SearchArguments = {
      query,
      ...(server === undefined ? {} : { server }),
      ...(detail === undefined ? {} : { detail }),
      ...(limit === undefined ? {} : { limit }),
    };
    const forPeople = isForPeople(terminal, options);
    const engine = forPeople
      ? gateway.codeMode
      : createCodeMode(gateway.source, { searchResultSerializer: jsonSerializer(), limits: { maxResultBytes: null } });
    const reply = await engine.search(args);
    const [first = "", ...notes] = textsOf(reply);
    const isError = reply.isError === true;
    await write(isError ? terminal.stderr : terminal.stdout, `${first}\n`);
    // Beside JSON they would be in the way of a program that reads it.
    for (const note of notes) await write(terminal.stderr, `${note}\n`);
    return isError ? EXIT.failed : EXIT.ok;
  } finally {
    await close();
  }
}

const textsOf = ({ content }: CallToolResult): string[] =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : []));
