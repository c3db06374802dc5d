import type { CallContext, ToolResult } from "../../catalog/tool.js";
import { ToolCallError } from "../../errors.js";
import type { ResolvedUpstream } from "../resolved-upstream.js";
import type { Secrets } from "../secrets.js";
import { Breaker } from "./breaker.js";
import { failureOf, reasonOf, type Connection } from "./connection.js";
import { seconds } from "./seconds.js";

/** What calls need of their upstream. */
export interface CallsHost {
  connection(): Connection | undefined;
  /** Why there is no connection. */
  why(): string;
  /** Replaces a connection whose session the server has forgotten. */
  renew(connection: Connection): Promise<void>;
}

/** Why a call failed, for programs. */
type FailureCode = "auth" | "closed" | "timeout" | "transport" | "unavailable";

/** The calls to one upstream: each ends, with an answer or with an error that names the upstream. */
export class UpstreamCalls {
  readonly #config: ResolvedUpstream;
  readonly #secrets: Secrets;
  readonly #host: CallsHost;
  readonly #breaker = new Breaker();
  readonly #pending = new Set<(reason: Error) => void>();
  #haveServed = false;
  #isClosed = false;

  constructor(config: ResolvedUpstream, secrets: Secrets, host: CallsHost) {
    this.#config = config;
    this.#secrets = secrets;
    this.#host = host;
  }

  /** True when a call has had an answer since the connection was made. */
  get haveServed(): boolean {
    return this.#haveServed;
  }

  /** There is a new connection. */
  connected(): void {
    this.#haveServed = false;
    this.#breaker.succeeded();
  }

  /** Every call under way fails now, whatever its transport is waiting for. */
  close(): void {
    this.#isClosed = true;
    for (const fail of this.#pending) fail(new Error("the gateway was closed"));
  }

  /**
   * Calls a tool.
   *
   * @param tool The server's own name.
   * @param exposed The gateway's name, for messages.
   * @throws {ToolCallError} that names the upstream, when the call did not reach the tool or had no answer. `details.code`
   * says why.
   * @throws what the server answered, when that was a JSON-RPC error; and the reason of the signal.
   */
  async call(tool: string, exposed: string, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const connection = this.#connection(exposed);
    const { waitMs } = this.#breaker;
    if (waitMs > 0) throw this.#paused(exposed, waitMs);
    try {
      return await this.#send(connection, tool, args, context);
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (failureOf(error, connection) !== "session") throw this.#explained(error, connection, exposed);
    }
    await this.#host.renew(connection);
    const renewed = this.#connection(exposed);
    try {
      // The server knew nothing of the session, so it cannot have done anything: the call may be made again, once.
      return await this.#send(renewed, tool, args, context);
    } catch (error) {
      throw context.signal.aborted ? error : this.#explained(error, renewed, exposed);
    }
  }

  #connection(exposed: string): Connection {
    const connection = this.#host.connection();
    if (connection !== undefined && !this.#isClosed) return connection;
    throw this.#error(exposed, `server "${this.#config.id}" is not available: ${this.#host.why()}`, "unavailable");
  }

  async #send(
    connection: Connection,
    tool: string,
    args: Record<string, unknown>,
    { signal, onProgress }: CallContext,
  ): Promise<ToolResult> {
    let fail: (reason: Error) => void = () => {};
    const closed = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    this.#pending.add(fail);
    try {
      const answer = connection.callTool(tool, args, { signal, onProgress, timeoutMs: this.#config.toolTimeoutMs });
      const result = await Promise.race([answer, closed]);
      this.#haveServed = true;
      this.#breaker.succeeded();
      return result;
    } finally {
      this.#pending.delete(fail);
    }
  }

  /** What a failed call means, in words for a script. */
  #explained(error: unknown, connection: Connection, exposed: string): unknown {
    const { id, toolTimeoutMs } = this.#config;
    const failed = (text: string, code: FailureCode): ToolCallError =>
      this.#error(exposed, `server "${id}" ${text}`, code, error);
    const failure = this.#isClosed ? "closed" : failureOf(error, connection);
    switch (failure) {
      case "answer":
        return error;
      case "auth":
        return failed(
          "refused the credentials of this gateway. Whoever runs it has to renew them; calling again does not help.",
          "auth",
        );
      case "closed": {
        this.#breaker.failed();
        const end = this.#isClosed ? "the gateway was closed" : connection.end;
        return failed(
          `ended during the call: ${end}. It may have had an effect: check before you repeat it.`,
          "closed",
        );
      }
      case "timeout":
        this.#breaker.failed();
        return failed(
          `timed out: no answer within ${toolTimeoutMs} ms (toolTimeoutMs). It may still have an effect: check before you repeat it.`,
          "timeout",
        );
      case "session":
      case "transport":
        this.#breaker.failed();
        return failed(`failed: ${reasonOf(error)}`, "transport");
    }
  }

  #paused(exposed: string, waitMs: number): ToolCallError {
    const text = `server "${this.#config.id}" is unavailable: its last calls all failed. Try again in ${seconds(waitMs)}.`;
    return this.#error(exposed, text, "unavailable");
  }

  #error(exposed: string, text: string, code: FailureCode, cause?: unknown): ToolCallError {
    return new ToolCallError(`call_tool('${exposed}') failed: ${this.#secrets.redact(text)}`, {
      details: { tool: exposed, server: this.#config.id, code },
      cause,
    });
  }
}
