import { STATUS_CODES } from "node:http";
import type { ContentBlock, ToolResult } from "../../catalog/tool.js";
import { isJsonType, isTextType } from "../operation/media-types.js";
import type { RequestPlan } from "../request/request-plan.js";
import type { NoAnswer, Received } from "../request/send.js";

/** What an answer is read with. */
export interface AnswerContext {
  plan: RequestPlan;
  /** Origin and path, without the query. */
  address: string;
  redact: (text: string) => string;
}

const MAX_DETAIL_CHARACTERS = 2_000;

/** The answer of a server as the result of a tool. A status of 400 or more is the tool's own error. */
export function toolResult(received: Received, context: AnswerContext): ToolResult {
  const { status } = received;
  if (status >= 300 && status !== 304) return failure(received, context);
  if (received.bytes.length === 0) return { content: [] };
  const type = received.headers.get("content-type") ?? "";
  if (isTextType(type) || (type === "" && looksLikeText(received.bytes))) return textResult(received, type, context);
  return { content: [mediaBlock(received.bytes, type, context.address)] };
}

/** A request that got no answer as the result of a tool. */
export function noAnswerResult({ message, facts }: NoAnswer, redact: (text: string) => string): ToolResult {
  const shown = Object.entries(facts).map(([name, fact]) => [name, typeof fact === "string" ? redact(fact) : fact]);
  const structured = shown.length === 0 ? {} : { structuredContent: Object.fromEntries(shown) as object };
  return { content: [{ type: "text", text: redact(message) }], isError: true, ...structured };
}

function textResult(received: Received, type: string, context: AnswerContext): ToolResult {
  const text = context.redact(decoded(received.bytes, type));
  if (text.trim() === "") return { content: [] };
  if (received.cutShort) return noted(text, "the stream had not ended; this is what came until it was closed");
  if (!isJsonType(type)) return { content: [{ type: "text", text }] };
  const parsed = parseJson(text);
  return parsed === undefined
    ? noted(text, `this is not the JSON that its type ${type} promises`)
    : jsonResult(parsed.value, context.plan);
}

function jsonResult(value: unknown, { wrapsResult }: RequestPlan): ToolResult {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (value === null && !wrapsResult) return { content: [] };
  const structuredContent = isObject && !wrapsResult ? value : { result: value };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

const noted = (text: string, note: string): ToolResult => ({
  content: [
    { type: "text", text },
    { type: "text", text: `(Note: ${note}.)` },
  ],
});

function mediaBlock(bytes: Uint8Array, type: string, uri: string): ContentBlock {
  const data = Buffer.from(bytes).toString("base64");
  const mimeType = (type.split(";")[0] ?? "").trim() || "application/octet-stream";
  if (mimeType.startsWith("image/")) return { type: "image", data, mimeType };
  if (mimeType.startsWith("audio/")) return { type: "audio", data, mimeType };
  return { type: "resource", resource: { uri, blob: data, mimeType } };
}

/** With method, path, status and what the server says; the whole body is there for the script. */
function failure(received: Received, { plan, redact }: AnswerContext): ToolResult {
  const { status, headers } = received;
  const type = headers.get("content-type") ?? "";
  const isText = isTextType(type) || looksLikeText(received.bytes);
  const text = isText ? redact(decoded(received.bytes, type)) : "";
  const body = parseJson(text)?.value ?? (text.trim() === "" ? undefined : text);
  const name = received.statusText || STATUS_CODES[status] || "";
  const detail = detailOf(body);
  const retryAfter = headers.get("retry-after");
  const retry = retryAfter === null ? "" : ` Retry after ${retryAfter.slice(0, 64)}.`;
  const message = `${plan.method} ${plan.path} answered ${status}${name === "" ? "" : ` ${name}`}${detail === "" ? "." : `: ${detail}`}${retry}`;
  return {
    isError: true,
    content: [{ type: "text", text: redact(message) }],
    structuredContent: {
      status,
      ...(body === undefined ? {} : { body }),
      ...(retryAfter === null ? {} : { retryAfter: retryAfter.slice(0, 64) }),
    },
  };
}

/** Where APIs put words: problem+json (RFC 9457), then what is common. */
const DETAIL_KEYS = ["title", "message", "error_description", "error", "errorMessage", "msg", "reason", "detail"];

function detailOf(body: unknown): string {
  return words(body, 0).slice(0, MAX_DETAIL_CHARACTERS);
}

function words(body: unknown, depth: number): string {
  if (typeof body === "string") return body.trim();
  if (typeof body !== "object" || body === null || depth > 2) return "";
  const found = DETAIL_KEYS.filter((key) => Object.hasOwn(body, key)).map((key) =>
    words((body as Record<string, unknown>)[key], depth + 1),
  );
  const distinct = [...new Set(found.filter((text) => text !== ""))];
  return distinct.length > 0 ? distinct.join(": ") : JSON.stringify(body);
}

function decoded(bytes: Uint8Array, type: string): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Text by its look: valid UTF-8 without NUL. */
function looksLikeText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0");
  } catch {
    return false;
  }
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
