import type { Command } from "commander";
import { EXIT } from "./errors.js";
import { examine, type Finding } from "./doctor-checks.js";
import { openGateway, type GatewayArguments } from "./open-gateway.js";
import { addGatewayOptions, examples } from "./options.js";
import type { CommandContext } from "./program.js";
import { isForPeople, painter, write, writeJson, type Terminal } from "./terminal.js";

interface DoctorArguments extends GatewayArguments {
  json?: boolean;
}

/** `doctor`: does everything work, and if not, what is to be done. */
export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description("Check configuration, servers and sandbox, and say what is wrong and how to mend it.")
    .option("--json", "print JSON, also on a terminal");
  addGatewayOptions(command)
    .addHelpText(
      "after",
      `\nExits with 1 when something is wrong.\n${examples("mcp-codemode doctor --config mcp.json", "mcp-codemode doctor | jq '.findings[] | select(.ok | not)'")}`,
    )
    .action(async (args: DoctorArguments) => {
      context.exitCode = await doctor(args, context.terminal);
    });
}

async function doctor(args: DoctorArguments, terminal: Terminal): Promise<number> {
  const opened = await openGateway(args, terminal, { defaultLogLevel: "error" });
  try {
    const { findings, tokens } = await examine(opened);
    if (isForPeople(terminal, args)) {
      for (const finding of findings) await write(terminal.stdout, forPeople(finding, terminal));
    } else {
      await writeJson(terminal.stdout, { ok: findings.every(({ ok }) => ok), findings, tokens });
    }
    return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
  } finally {
    await opened.close();
  }
}

function forPeople({ ok, check, message, remedy }: Finding, { stdout, env }: Terminal): string {
  const paint = painter(stdout, env);
  const mark = ok ? paint("ok  ", "green") : paint("FAIL", "red");
  const mend = remedy === undefined ? "" : `     ${paint("->", "yellow")} ${remedy}\n`;
  return `${mark} ${paint(check, "bold")}: ${message}\n${mend}`;
}
