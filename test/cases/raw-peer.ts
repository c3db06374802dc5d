import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, LATEST_PROTOCOL_VERSION, McpError } from "@modelcontextprotocol/sdk/types.js";

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The params of an initialize request of the runner. */
export const INITIALIZE = {
  protocolVersion: LATEST_PROTOCOL_VERSION,
  capabilities: {},
  clientInfo: { name: "cases-raw", version: "1.0.0" },
};

/** A JSON-RPC peer that lets the runner choose ids, also one id twice: replies go to those who wait, in order. */
export class RawPeer {
  readonly notifications: string[] = [];
  capabilities: unknown;
  readonly #transport: Transport;
  readonly #waiting = new Map<unknown, Waiting[]>();
  #nextId = 1_000_000;

  constructor(transport: Transport) {
    this.#transport = transport;
    transport.onmessage = (message) => this.#receive(message);
  }

  async initialize(): Promise<void> {
    await this.#transport.start();
    const { capabilities } = (await this.request("initialize", INITIALIZE)) as { capabilities: unknown };
    this.capabilities = capabilities;
    await this.#transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  async request(method: string, params: object, id: unknown = this.#nextId++): Promise<unknown> {
    const reply = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), { resolve, reject }]);
    });
    await this.#transport.send({ jsonrpc: "2.0", id, method, params } as JSONRPCMessage);
    return reply;
  }

  #receive(message: JSONRPCMessage): void {
    if ("method" in message) {
      this.notifications.push(message.method);
      return;
    }
    const waiting = this.#waiting.get(message.id)?.shift();
    if (waiting === undefined) return;
    if ("error" in message) {
      waiting.reject(new McpError(message.error.code, message.error.message, message.error.data));
    } else waiting.resolve(message.result);
  }
}
