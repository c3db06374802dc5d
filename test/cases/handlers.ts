import { setTimeout as sleep } from "node:timers/promises";
import { ElicitResultSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { asJson, asStrings, asText, type Json, knownKeys, Todo } from "./case.js";
import type { Fixture } from "./fixtures.js";

/** What a handler gets of its request: the SDK's `extra`, structurally. */
export interface Extra {
  signal: AbortSignal;
  sessionId?: string | undefined;
  authInfo?: unknown;
  requestId?: unknown;
  sendRequest: (request: object, schema: object) => Promise<unknown>;
  [key: string]: unknown;
}

/** One call of a fixture tool. */
export interface HandlerCall {
  fixture: Fixture;
  tool: string;
  args: Json;
  extra: Extra;
}

type Handler = (call: HandlerCall, on: Json) => Promise<object>;

const text = (value: string): object => ({ content: [{ type: "text", text: value }] });
const structured = (value: unknown): object => ({ ...text(JSON.stringify(value)), structuredContent: value });

/** Handlers by the key of `on` that chooses them; `beside` are the keys that may stand next to it. */
const HANDLERS = new Map<string, { beside?: readonly string[]; run: Handler }>([
  ["text", { run: async (_call, on) => text(String(on["text"])) }],
  ["structured", { run: async (_call, on) => structured(on["structured"]) }],
  ["returns", { run: async (_call, on) => structuredClone(asJson(on["returns"], "on.returns")) }],
  ["returnsJson", { run: async (_call, on) => JSON.parse(String(on["returnsJson"])) as object }],
  ["echo", { run: async ({ args }) => structured({ args }) }],
  ["sum", { run: async ({ args }, on) => structured({ result: sumOf(args, asStrings(on["sum"], "on.sum")) }) }],
  ["counter", { run: async ({ fixture, tool }) => structured({ count: fixture.calls.get(tool) ?? 0 }) }],
  ["throws", { run: async (_call, on) => throwError(asJson(on["throws"], "on.throws")) }],
  ["throwsMcpError", { run: async (_call, on) => throwMcpError(asJson(on["throwsMcpError"], "on.throwsMcpError")) }],
  ["reportsExtra", { beside: ["delayMs"], run: reportExtra }],
  ["delayMs", { beside: ["then", "recordsMaxInFlight"], run: delayed }],
  ["never", { run: never }],
  ["enables", { run: async ({ fixture }, on) => (fixture.enable(on["enables"]), text("ok")) }],
  ["generates", { run: async (_call, on) => structured({ rows: generateRows(asJson(on["generates"], "generates")) }) }],
  ["elicits", { run: elicit }],
]);

/** @throws {Todo} when a handler is unknown, or needs a process of its own. */
export function checkHandler(on: Json): void {
  const [key, handler] = chosen(on);
  knownKeys(on, [key, ...(handler.beside ?? [])], "on");
  if (on["then"] !== undefined) checkHandler(asJson(on["then"], "on.then"));
}

/** Runs the handler of a fixture tool. */
export async function runHandler(call: HandlerCall, on: Json): Promise<object> {
  call.fixture.count(call.tool);
  return answer(call, on);
}

const answer: Handler = async (call, on) => chosen(on)[1].run(call, on);

function chosen(on: Json): [string, { beside?: readonly string[]; run: Handler }] {
  for (const [key, handler] of HANDLERS) if (Object.hasOwn(on, key)) return [key, handler];
  throw new Todo(`no fixture handler for ${JSON.stringify(on)}`);
}

const sumOf = (args: Json, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + Number(args[name]), 0);

function throwError(spec: Json): never {
  knownKeys(spec, ["message", "name", "code", "stackContains", "cause"], "on.throws");
  const error = new Error(String(spec["message"]), spec["cause"] === undefined ? undefined : { cause: spec["cause"] });
  if (spec["name"] !== undefined) error.name = asText(spec["name"], "on.throws.name");
  if (spec["code"] !== undefined) Object.assign(error, { code: spec["code"] });
  if (spec["stackContains"] !== undefined)
    error.stack += `\n    at handler (${asText(spec["stackContains"], "on.throws.stackContains")})`;
  throw error;
}

function throwMcpError(spec: Json): never {
  knownKeys(spec, ["code", "message", "data"], "on.throwsMcpError");
  throw new McpError(Number(spec["code"]), String(spec["message"]), spec["data"]);
}

/** `authInfo` and `sessionId` by value, the others as true if present and usable. */
async function reportExtra({ extra }: HandlerCall, on: Json): Promise<object> {
  if (on["delayMs"] !== undefined) await sleep(Number(on["delayMs"]));
  const names = asStrings(on["reportsExtra"], "on.reportsExtra");
  return structured(Object.fromEntries(names.map((name) => [name, reported(name, extra)])));
}

function reported(name: string, extra: Extra): unknown {
  const value = extra[name];
  if (name === "authInfo" || name === "sessionId") return value ?? null;
  if (name === "signal") return value instanceof AbortSignal && !value.aborted;
  if (name.startsWith("send")) return typeof value === "function";
  return value !== undefined && value !== null;
}

async function delayed(call: HandlerCall, on: Json): Promise<object> {
  const { fixture, extra } = call;
  fixture.maxInFlight = Math.max(fixture.maxInFlight, ++fixture.inFlight);
  try {
    await sleep(Number(on["delayMs"]), undefined, { signal: extra.signal });
  } finally {
    fixture.inFlight--;
    if (extra.signal.aborted) fixture.abortedSignals++;
  }
  return on["then"] === undefined ? text("done") : answer(call, asJson(on["then"], "on.then"));
}

function never({ fixture, extra }: HandlerCall): Promise<object> {
  fixture.waiting++;
  extra.signal.addEventListener("abort", () => fixture.abortedSignals++, { once: true });
  return new Promise(() => undefined);
}

/** Rows that make about `approxMb` megabytes of JSON. */
function generateRows(spec: Json): object[] {
  knownKeys(spec, ["rows", "approxMb"], "on.generates");
  const count = Number(spec["rows"]);
  const pad = "x".repeat(Math.max(0, Math.floor((Number(spec["approxMb"]) * 1_000_000) / count) - 24));
  return Array.from({ length: count }, (_, id) => ({ id, pad }));
}

async function elicit({ extra }: HandlerCall, on: Json): Promise<object> {
  const { message } = asJson(on["elicits"], "on.elicits");
  const requestedSchema = { type: "object", properties: { answer: { type: "string" } } };
  const params = { message, requestedSchema };
  return text(JSON.stringify(await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema)));
}
