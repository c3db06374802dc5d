import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, messageOf } from "../errors.js";
import { isRecord, type GatewayConfig } from "./config.js";
import { parseJsonText } from "./json-text.js";

/** Where clients keep the servers of a project. */
const PROJECT_FILES = ["mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

/**
 * Reads a configuration as MCP clients write it: JSON, with comments and trailing commas where the editor allows them.
 *
 * @throws {ConfigurationError} when the file cannot be read or holds no object.
 *
 * @example
 * const gateway = createGateway(await readGatewayConfig("mcp.json"));
 */
export async function readGatewayConfig(path: string): Promise<GatewayConfig> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new ConfigurationError(`The configuration cannot be read: ${messageOf(cause)}`, { cause });
  }
  const config = parseJsonText(text, path);
  if (!isRecord(config)) throw new ConfigurationError(`${path} must hold an object.`);
  return config as GatewayConfig;
}

/** The configuration of the project in a folder: `mcp.json`, `.mcp.json`, `.cursor/mcp.json` or `.vscode/mcp.json`. */
export function findGatewayConfig(folder: string): string | undefined {
  return PROJECT_FILES.map((file) => join(folder, file)).find((path) => existsSync(path));
}
