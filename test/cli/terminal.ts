import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { main } from "../../src/cli/program.js";
import type { UpstreamConfig } from "../../src/gateway/config.js";

/** What a command printed, and how it ended. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** How a command is run. */
export interface RunSettings {
  stdin?: string;
  /** A person at a terminal, who reads both. */
  isTty?: boolean;
  env?: Record<string, string>;
  cwd?: string;
}

/** The command line in this process, with streams of its own. */
export async function run(args: readonly string[], settings: RunSettings = {}): Promise<Ran> {
  const { stdin = "", isTty = false, env = {}, cwd = process.cwd() } = settings;
  const [stdout, stderr] = [sink(isTty), sink(isTty)];
  const { PATH = "", HOME = "" } = process.env;
  const code = await main(args, {
    stdin: Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { PATH, HOME, ...env },
    cwd,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function sink(isTTY: boolean): { stream: Writable & { isTTY?: boolean }; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), text: () => Buffer.concat(chunks).toString("utf8") };
}

/** A folder with a configuration `mcp.json` and these files. */
export function project(mcpServers: Record<string, UpstreamConfig>, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "mcp-codemode-cli-"));
  const config = { mcpServers, codeMode: {} };
  for (const [name, text] of Object.entries({ "mcp.json": JSON.stringify(config), ...files })) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
