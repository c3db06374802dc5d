/** One JSON-RPC message. */
export interface Message {
  jsonrpc?: string;
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** What crossed the wire from the server because of one call: everything before its answer, and the answer. */
export interface Exchange {
  before: Message[];
  answer: Message;
}

/** A client that shows the very messages a server sends. */
export interface WireClient {
  /** @param signal Aborts: the call is cancelled, and the exchange ends without an answer. */
  call(params: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<Exchange>;
  close(): Promise<void>;
}

/** The transports of both SDK generations, as far as they matter here. */
export interface Wire {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  sessionId?: string | undefined;
  start(): Promise<void>;
  send(message: never): Promise<void>;
  close(): Promise<void>;
}

/** The id of every call and the token for its progress: the same in every exchange, so that bytes can be compared. */
export const CALL_ID = 4711;
export const PROGRESS_TOKEN = "progress-of-the-call";

/** What the client's side declares: everything. */
export const CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
};

const ELICITED = { action: "accept", content: { name: "Ada", interpretation: "technical" } };
const SAMPLED = { role: "assistant", model: "m", stopReason: "endTurn", content: { type: "text", text: "sampled" } };
const NOW = "2026-01-01T00:00:00.000Z";
const taskOf = (taskId: string, status: string) => ({
  taskId,
  status,
  ttl: 60_000,
  createdAt: NOW,
  lastUpdatedAt: NOW,
});

/** How the client answers what a server asks, as a task of its own where the server asks for one. */
export function answerTo({ method, params = {} }: Message): Record<string, unknown> {
  const result = method === "sampling/createMessage" ? SAMPLED : ELICITED;
  switch (method) {
    case "roots/list":
      return { roots: [{ uri: "file:///home", name: "home" }] };
    case "sampling/createMessage":
    case "elicitation/create":
      return params["task"] === undefined ? result : { task: taskOf(String(method), "working") };
    case "tasks/get":
      return taskOf(String(params["taskId"]), "completed");
    case "tasks/result":
      return params["taskId"] === "sampling/createMessage" ? SAMPLED : ELICITED;
    default:
      return {};
  }
}

/** A client on an in-memory transport of either generation, in the protocol of 2025-11-25. */
export class MemoryClient implements WireClient {
  readonly #wire: Wire;
  #heard: Message[] = [];
  #waiting = new Map<string | number, (answer: Message) => void>();
  #listener: ((message: Message) => void) | undefined;

  private constructor(wire: Wire) {
    this.#wire = wire;
    wire.onmessage = (message: Message) => this.#receive(structuredClone(message));
  }

  static async connect(wire: Wire): Promise<MemoryClient> {
    const client = new MemoryClient(wire);
    await wire.start();
    const clientInfo = { name: "wire", version: "1" };
    await client.#request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, clientInfo });
    await client.#send({ method: "notifications/initialized" });
    return client;
  }

  /** Resolves with the first message that fits. */
  heard(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      this.#listener = (message) => void (fits(message) && resolve(message));
    });
  }

  request(method: string, params: Record<string, unknown>): Promise<Message> {
    return this.#request(CALL_ID, method, params);
  }

  async call(params: Record<string, unknown>, { signal }: { signal?: AbortSignal } = {}): Promise<Exchange> {
    this.#heard = [];
    const _meta = { progressToken: PROGRESS_TOKEN };
    const answered = this.#request(CALL_ID, "tools/call", { ...params, _meta });
    if (signal === undefined) {
      const answer = await answered;
      return { before: this.#heard.filter((message) => message !== answer), answer };
    }
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await this.#send({
      method: "notifications/cancelled",
      params: { requestId: CALL_ID, reason: String(signal.reason) },
    });
    return { before: this.#heard, answer: {} };
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #receive(message: Message): void {
    this.#heard.push(message);
    this.#listener?.(message);
    const { id, method } = message;
    if (id === undefined) return;
    if (method === undefined) this.#waiting.get(id)?.(message);
    else void this.#send({ id, result: answerTo(message) });
  }

  #request(id: number, method: string, params: Record<string, unknown>): Promise<Message> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      void this.#send({ id, method, params });
    });
  }

  #send(message: Message): Promise<void> {
    return this.#wire.send({ jsonrpc: "2.0", ...message } as never);
  }
}

/** A client of 2026-07-28: one HTTP exchange per call. */
export class HttpClient implements WireClient {
  constructor(private readonly fetch: (request: Request) => Promise<Response>) {}

  async call(params: Record<string, unknown>, { signal }: { signal?: AbortSignal } = {}): Promise<Exchange> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
      "io.modelcontextprotocol/logLevel": "debug",
      progressToken: PROGRESS_TOKEN,
    };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": String(params["name"]),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: CALL_ID, method: "tools/call", params: { ...params, _meta } });
    const init = { method: "POST", headers, body, ...(signal === undefined ? {} : { signal }) };
    const response = await this.fetch(new Request("http://test.local/mcp", init));
    const text = await response.text().catch(() => "");
    const messages = messagesOf(text);
    return { before: messages.slice(0, -1), answer: messages.at(-1) ?? {} };
  }

  async close(): Promise<void> {}
}

function messagesOf(body: string): Message[] {
  if (body.startsWith("{")) return [JSON.parse(body) as Message];
  return body
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Message);
}
