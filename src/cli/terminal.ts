import type { Readable, Writable } from "node:stream";
import type { Environment } from "../gateway/expand.js";

/** What the command line reads and writes. */
export interface Terminal {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: Environment;
  cwd: string;
}

/** The terminal of this process. */
export const processTerminal = (): Terminal => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
});

/** True when a person reads: otherwise plain JSON is written. */
export const isForPeople = ({ stdout }: Terminal, options: { json?: boolean | undefined }): boolean =>
  options.json !== true && stdout.isTTY === true;

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;

/** Colours text where that helps: on a terminal, and unless NO_COLOR is set. */
export function painter(
  stream: { isTTY?: boolean },
  env: Environment,
): (text: string, colour: keyof typeof CODES) => string {
  const isOn = stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return (text, colour) => (isOn ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text);
}

/** Writes all of it, also into a pipe that is slow. A reader that has gone is no error. */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.write(text, () => resolve());
  });
}

export const writeJson = (stream: Writable, value: unknown): Promise<void> =>
  write(stream, `${JSON.stringify(value, null, 2)}\n`);
