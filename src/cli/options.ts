import { InvalidArgumentError, Option, type Command } from "commander";
import type { LogLevel } from "../gateway/events.js";
import { UsageError } from "./errors.js";

/** Adds the options of every command that needs upstreams. */
export function addGatewayOptions(command: Command): Command {
  const levels: LogLevel[] = ["debug", "info", "warn", "error"];
  return command
    .option("-c, --config <file>", "configuration: mcpServers (Claude, Cursor, Windsurf) or servers (VS Code)")
    .option("--input <id=value>", "answer to ${input:id}; or set MCP_CODEMODE_INPUT_ID", collect)
    .addOption(new Option("--log-level <level>", "least level of the log").choices(levels))
    .option("--log-file <file>", "where the log goes, instead of stderr");
}

/** For an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** "500", "500ms", "30s", "2m" in milliseconds. */
export function milliseconds(text: string): number {
  const [, number, unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  const ms = Number(number) * { ms: 1, s: 1_000, m: 60_000 }[unit as "ms" | "s" | "m"];
  if (number === undefined || ms <= 0 || ms > 2 ** 31 - 1) {
    throw new InvalidArgumentError("Expected a time such as 500ms, 30s or 2m.");
  }
  return ms;
}

/** A whole number of at least `least`. */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least} on.`);
  };

/** `K=V` texts as an object. */
export function keyValues(texts: readonly string[]): Record<string, string> {
  const entries = texts.map((text): [string, string] => {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`Expected NAME=value, got ${JSON.stringify(text)}.`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}

/** Examples below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
