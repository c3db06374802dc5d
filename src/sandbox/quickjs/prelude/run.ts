import { decodeValue } from "../../values/decode.js";
import { encodeValue, ValueLimit, type EncodedValue } from "../../values/encode.js";
import {
  apply,
  defineProperty,
  getOwnPropertyDescriptor,
  isArray,
  keysOf,
  NewPromise,
  parse,
  slice,
  stringify,
  toText,
} from "../../values/intrinsics.js";
import { KIND, REPLY_ERROR, REPLY_OK, type GuestConfig, type GuestError } from "../protocol.js";
import { callHost, openCalls, resetBridge, settle } from "./bridge.js";
import { resetConsole } from "./console.js";
import { config } from "./config.js";
import { host, hostErrorOf, newHostError, WORD, words } from "./host.js";
import { shrinkToFit, utf8Length } from "./shrink.js";
import { resetTimers, tick } from "./timers.js";
import { installTools } from "./tools.js";

// oxlint-disable-next-line eslint/no-eval -- the guest's own, kept from scripts that replace it, to read a declared RESULT
const evaluate = globalThis.eval;

/** Sets the guest up for runs of one configuration. Memory is then kept as it is for all of them: nothing of a single run belongs here. */
function begin(text: string): void {
  const given = parse(text) as GuestConfig;
  const keys = keysOf(given);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as keyof GuestConfig;
    defineProperty(config, key, { value: given[key], writable: true, configurable: true, enumerable: true });
  }
  // In the memory of an earlier run: what belonged to that run goes, its globals stay.
  resetBridge();
  resetConsole();
  resetTimers();
  delete (globalThis as { RESULT?: unknown }).RESULT;
  for (let index = 0; index < config.functions.length; index++) installFunction(config.functions[index] as string);
}

/** Gives a run its inputs: globals. */
function provide(text: string): void {
  installInputs(decodeValue(text) as Record<string, unknown>);
}

function installFunction(name: string): void {
  const call = (...args: unknown[]): Promise<unknown> => callHost(name, args);
  defineProperty(call, "name", { value: name, configurable: true });
  defineProperty(globalThis, name, { value: call, writable: true, configurable: true, enumerable: false });
  if (name === "call_tool") installTools();
}

function installInputs(inputs: Record<string, unknown>): void {
  const names = keysOf(inputs);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    defineProperty(globalThis, name, { value: inputs[name], writable: true, configurable: true, enumerable: false });
  }
}

/** Waits for the script and tells the host how it ended: nobody has to poll a promise from outside. */
async function finish(promise: Promise<unknown>, boxed: boolean): Promise<void> {
  try {
    // Waiting reads `constructor`: without an own one a script's getter on Promise.prototype would be met.
    defineProperty(promise, "constructor", { value: NewPromise });
    const value = await promise;
    // The engine's async evaluation gives { value: completion }.
    const result = await called(boxed ? (value as { value: unknown }).value : value);
    // A returned value, else what was assigned to RESULT, else the last expression.
    const mayAssign = words[WORD.MAY_ASSIGN] === 1 && (boxed || result === undefined);
    const assigned = mayAssign ? assignedResult() : undefined;
    host(KIND.DONE, openCalls(), REPLY_OK + encodeResult(assigned === undefined ? result : assigned));
  } catch (error) {
    host(KIND.DONE, openCalls(), REPLY_ERROR + describe(error));
  }
}

/** A script that is one function, as models like to write, is called. */
function called(value: unknown): unknown {
  return typeof value === "function" ? apply(value, undefined, []) : value;
}

/** The global RESULT, whether assigned or declared; undefined if there is none. */
function assignedResult(): unknown {
  if (getOwnPropertyDescriptor(globalThis, "RESULT") !== undefined) return (globalThis as { RESULT?: unknown }).RESULT;
  try {
    return evaluate("typeof RESULT === 'undefined' ? undefined : RESULT");
  } catch {
    return undefined;
  }
}

function encodeResult(value: unknown): string {
  const most = config.maxResultBytes;
  try {
    const encoded = encodeValue(value, most);
    if (utf8Length(encoded.text, most) <= most) return withNotes(encoded, undefined);
  } catch (error) {
    if (!(error instanceof ValueLimit)) throw error;
    if (!config.truncate || error.reason === "depth") throw resultTooLarge(error);
  }
  if (!config.truncate) throw resultTooLarge(new ValueLimit("size"));
  return withNotes(shrinkToFit(value, most), most);
}

function withNotes({ text, dropped }: EncodedValue, truncatedTo: number | undefined): string {
  let notes = "";
  if (dropped > 0)
    notes = stringify(
      "Left out of the result: " +
        dropped +
        " function" +
        (dropped > 1 ? "s" : "") +
        " or symbols, which have no JSON form.",
    );
  if (truncatedTo !== undefined) {
    const cut = stringify(
      "The result was truncated: it is larger than the limit of " +
        truncatedTo +
        " bytes. Filter and aggregate inside the script, or return a part at a time.",
    );
    notes = notes === "" ? cut : notes + "," + cut;
  }
  return text === undefined ? "[[" + notes + "]]" : "[[" + notes + "]," + text + "]";
}

function resultTooLarge(limit: ValueLimit): Error {
  const most = config.maxResultBytes;
  if (limit.reason === "depth")
    return newHostError("LimitError", "The result is nested too deeply.", "limit", { limit: "depth" });
  return newHostError(
    "LimitError",
    "The result is larger than the limit of " + most + " bytes. Return less: filter and aggregate inside the script.",
    "limit",
    {
      limit: "maxResultBytes",
      most,
    },
  );
}

/** An error as JSON text. Never throws, whatever the script threw. */
function describe(error: unknown): string {
  try {
    return stringify(describeError(error));
  } catch {
    return '{"name":"Error","message":"[unreadable error]","stack":""}';
  }
}

function describeError(error: unknown): GuestError {
  if (typeof error !== "object" || error === null) return { name: "Thrown", message: thrownText(error), stack: "" };
  const { name, message, stack } = error as Partial<Error>;
  const described: GuestError = { name: text(name, "Error"), message: text(message, ""), stack: text(stack, "") };
  if (name === undefined && message === undefined) described.message = plainText(error);
  const known = hostErrorOf(error);
  if (known === undefined) return described;
  described.kind = known.kind;
  described.details = known.details;
  return described;
}

/** Longest text of an error that crosses. */
const MOST_ERROR_TEXT = 16_384;

function text(value: unknown, missing: string): string {
  const full = value === undefined ? missing : typeof value === "string" ? value : toText(value);
  return full.length > MOST_ERROR_TEXT ? slice(full, 0, MOST_ERROR_TEXT) + "…" : full;
}

function thrownText(value: unknown): string {
  if (typeof value === "string") return value === "" ? "an empty string was thrown" : text(value, "");
  return (typeof value === "symbol" ? "a symbol" : toText(value)) + " was thrown";
}

function plainText(value: object): string {
  try {
    return (isArray(value) ? "an array" : "an object") + " was thrown: " + (encodeValue(value, 1000).text ?? "");
  } catch {
    return "an object was thrown";
  }
}

/** What the worker may call. */
export const guestApi = { begin, provide, finish, settle, tick, describe };
