import { StringDecoder } from "node:string_decoder";

/** One message, or one line without an end: what is longer is no message of a sane server. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;

/** What comes out of {@link MessageLines}. */
export interface LineHandlers {
  onMessage(message: object): void;
  /** A line that is no JSON-RPC message: the print of a program that should have used stderr. */
  onNoise(line: string): void;
}

/** Cuts the output of a process into JSON-RPC messages, one to a line. */
export class MessageLines {
  readonly #handlers: LineHandlers;
  readonly #decoder = new StringDecoder("utf8");
  /** Pieces of the line that has no end yet: joined once, so that a long line costs no more than its length. */
  #pieces: string[] = [];
  #length = 0;

  constructor(handlers: LineHandlers) {
    this.#handlers = handlers;
  }

  /** @throws {RangeError} for a line without an end. */
  add(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#pieces.push(text.slice(from, end));
      from = end + 1;
      this.#line();
    }
    this.#length += text.length - from;
    if (this.#length > MAX_LINE_CHARACTERS)
      throw new RangeError(`a line of more than ${MAX_LINE_CHARACTERS} characters`);
    if (from < text.length) this.#pieces.push(text.slice(from));
  }

  #line(): void {
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    if (line.trim() === "") return;
    const message = messageIn(line);
    if (message === undefined) this.#handlers.onNoise(line);
    else this.#handlers.onMessage(message);
  }
}

function messageIn(line: string): object | undefined {
  try {
    const value = JSON.parse(line) as { jsonrpc?: unknown } | null;
    return typeof value === "object" && value?.jsonrpc === "2.0" ? value : undefined;
  } catch {
    return undefined;
  }
}
