import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asJson, asText, type Json, knownKeys } from "./case.js";

/** A request as the API got it. */
export interface RecordedRequest {
  method: string;
  /** As sent: still percent-encoded. */
  path: string;
  /** Name -> values, decoded. */
  query: ReadonlyMap<string, string[]>;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** An API on loopback that records what it gets and gives prepared answers. */
export class ApiServer {
  readonly requests: RecordedRequest[] = [];
  readonly #http: Server;
  #answers: readonly unknown[] = [];
  #next = 0;

  constructor() {
    this.#http = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    return (this.#http.address() as AddressInfo).port;
  }

  /** Forgets all requests; gives these answers in order from now on, the last one again and again. */
  reset(answers: readonly unknown[]): void {
    this.requests.length = 0;
    this.#answers = answers;
    this.#next = 0;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const parameters = new URLSearchParams(query);
    this.requests.push({
      method: request.method ?? "",
      path,
      query: new Map([...parameters.keys()].map((name) => [name, parameters.getAll(name)])),
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    const answer = this.#answers[Math.min(this.#next++, this.#answers.length - 1)];
    respond(response, asJson(answer ?? {}, "server"));
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

function respond(response: ServerResponse, answer: Json): void {
  knownKeys(answer, ["status", "headers", "body", "bodyBase64"], "server");
  const { status, headers, body, bodyBase64 } = answer;
  const isDefault = body === undefined && bodyBase64 === undefined && status === undefined;
  const bytes =
    bodyBase64 === undefined
      ? textBytes(isDefault ? "{}" : body)
      : Buffer.from(asText(bodyBase64, "bodyBase64"), "base64");
  const type = isDefault ? { "content-type": "application/json" } : {};
  response.writeHead(Number(status ?? 200), { ...type, ...(headers as Record<string, string> | undefined) });
  response.end(bytes);
}

const textBytes = (body: unknown): Buffer =>
  body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));

/** The value with PORT as the port in all its texts. */
export function withPort<T>(value: T, port: number): T {
  const seen = new Map<object, unknown>();
  const replace = (item: unknown): unknown => {
    if (typeof item === "string") return item.replaceAll(/\bPORT\b/g, String(port));
    if (typeof item !== "object" || item === null) return item;
    const known = seen.get(item);
    if (known !== undefined) return known;
    const copy: unknown = Array.isArray(item) ? [] : {};
    seen.set(item, copy);
    for (const [key, member] of Object.entries(item)) {
      const at = { value: replace(member), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(copy, key, at);
    }
    return copy;
  };
  return replace(value) as T;
}

/** The URL or text of an option, if it is there. */
export const optionalText = (value: unknown, where: string): string | undefined =>
  value === undefined ? undefined : asText(value, where);
