import { CancelledError, messageOf, TimeoutError } from "../../errors.js";
import type { ApiRequest } from "./build-request.js";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How requests are sent. */
export interface SendOptions {
  fetch: Fetch;
  timeoutMs: number;
  maxResponseBytes: number;
}

/** What came back. */
export interface Received {
  status: number;
  statusText: string;
  headers: Headers;
  bytes: Uint8Array;
  /** A stream that was still open when its time was over or its size reached: what came until then. */
  cutShort: boolean;
}

/** Why there is no answer to show. For the script, hence without credentials, query and addresses of other hosts' keys. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(
    message: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

const MAX_REDIRECTS = 5;
/** A stream may never end: what came of it is the answer. */
const STREAMS = /^(text\/event-stream|application\/(x-ndjson|ndjson|jsonl|json-seq|stream\+json))\b/i;

/**
 * Sends a request and reads the answer, redirects on the same host followed.
 *
 * @throws {NoAnswer} when nothing could be received, or too much, or a redirect leads to another host.
 * @throws {TimeoutError} after `timeoutMs`.
 * @throws {CancelledError} when `signal` aborts.
 */
export async function send(request: ApiRequest, options: SendOptions, signal: AbortSignal): Promise<Received> {
  const clock = new RequestClock(signal, options.timeoutMs);
  const where = `${request.method} ${request.url.pathname}`;
  try {
    const response = await followed(request, options, clock.signal, where);
    return await read(response, options.maxResponseBytes, clock, where);
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    if (signal.aborted) throw new CancelledError(`${where} was cancelled`);
    if (clock.isOver) throw new TimeoutError(`${where} did not answer within ${options.timeoutMs} ms`);
    throw new NoAnswer(`${where} could not be sent: ${reasonOf(error)}`);
  } finally {
    clock.stop();
  }
}

/** One signal for the caller's and for the time. `AbortSignal.any` is missing in Node 20.0 to 20.2. */
class RequestClock {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #parent: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);
  isOver = false;

  constructor(parent: AbortSignal, timeoutMs: number) {
    this.#parent = parent;
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, timeoutMs);
    if (parent.aborted) this.#follow();
    else parent.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener("abort", this.#follow);
  }
}

async function followed(
  request: ApiRequest,
  { fetch }: SendOptions,
  signal: AbortSignal,
  where: string,
): Promise<Response> {
  let { url, method, body } = request;
  const headers = new Headers(request.headers);
  for (let redirects = 0; ; redirects++) {
    const init: RequestInit = { method, headers, signal, redirect: "manual", ...(body === undefined ? {} : { body }) };
    const response = await fetch(url.href, init);
    const location = redirectOf(response);
    if (location === undefined) return response;
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw new NoAnswer(`${where} was redirected more than ${MAX_REDIRECTS} times`);
    url = allowedRedirect(location, url, response.status, where);
    if (response.status === 303 || (method === "POST" && response.status < 303)) {
      if (method !== "HEAD") method = "GET";
      body = undefined;
      headers.delete("content-type");
    }
  }
}

function redirectOf(response: Response): string | undefined {
  if (response.type === "opaqueredirect") return "";
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  return response.headers.get("location") ?? undefined;
}

/** Only to the same host: credentials would go along, and nobody has allowed another one. */
function allowedRedirect(location: string, from: URL, status: number, where: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const isUpgrade = from.protocol === "http:" && to?.protocol === "https:" && from.port === "" && to.port === "";
  if (
    to !== undefined &&
    location !== "" &&
    to.hostname === from.hostname &&
    (to.origin === from.origin || isUpgrade)
  ) {
    return to;
  }
  const target = to === undefined || location === "" ? "an address that is not known" : to.host;
  throw new NoAnswer(`${where} answered ${status}: a redirect to ${target}, which is not followed`, {
    status,
    ...(location === "" ? {} : { location }),
  });
}

async function read(response: Response, maxBytes: number, clock: RequestClock, where: string): Promise<Received> {
  const { status, statusText, headers } = response;
  const isStream = STREAMS.test(headers.get("content-type") ?? "");
  const tooLarge = (): NoAnswer =>
    new NoAnswer(`${where} answered with more than ${maxBytes} bytes. Ask for less: a page, a filter, fewer fields.`, {
      status,
    });
  if (!isStream && Number(headers.get("content-length") ?? 0) > maxBytes) {
    await response.body?.cancel();
    throw tooLarge();
  }
  const { chunks, bytes, ended } = await readChunks(response.body, maxBytes, isStream ? clock : undefined);
  if (bytes > maxBytes && !isStream) throw tooLarge();
  const all = new Uint8Array(Buffer.concat(chunks, Math.min(bytes, maxBytes)));
  return { status, statusText, headers, bytes: all, cutShort: !ended };
}

async function readChunks(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  clock: RequestClock | undefined,
): Promise<{ chunks: Uint8Array[]; bytes: number; ended: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && bytes <= maxBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      bytes += value.byteLength;
    }
    const ended = bytes <= maxBytes;
    if (!ended) await reader?.cancel();
    return { chunks, bytes, ended };
  } catch (error) {
    if (clock?.isOver === true && chunks.length > 0) return { chunks, bytes, ended: false };
    throw error;
  }
}

/** `fetch failed` says nothing; the code of its cause (ECONNREFUSED) does. Messages of causes may hold addresses. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const { code } = (cause ?? error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : messageOf(error);
}
