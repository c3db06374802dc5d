import { decodeValue } from "../../values/decode.js";
import { encodeValue, ValueLimit, type EncodedValue } from "../../values/encode.js";
import {
  apply,
  defineProperty,
  functionToText,
  getOwnPropertyDescriptor,
  hasOwn,
  includes,
  indexOf,
  isArray,
  keysOf,
  parse,
  slice,
  stringify,
  toText,
} from "../../values/intrinsics.js";
import { KIND, REPLY_ERROR, REPLY_OK, type GuestConfig, type GuestError } from "../protocol.js";
import { callHost, openCalls, resetBridge, settle } from "./bridge.js";
import { resetConsole } from "./console.js";
import { config } from "./config.js";
import { defineFunction, defineGlobal, keepConstructor } from "./define.js";
import { host, hostErrorOf, newHostError, WORD, words } from "./host.js";
import { openReports, progress, resetProgress, sendWaiting } from "./progress.js";
import {
  awaitedNote,
  awaitParts,
  droppedNote,
  functionNote,
  PROMISE_TEXT_NOTE,
  truncatedNote,
} from "./result-notes.js";
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
  resetProgress();
  forgetResult();
  for (let index = 0; index < config.functions.length; index++) installFunction(config.functions[index] as string);
}

/** One that the script of an earlier run has declared cannot be deleted. */
function forgetResult(): void {
  const scope = globalThis as { RESULT?: unknown };
  try {
    delete scope.RESULT;
  } catch {
    scope.RESULT = undefined;
  }
}

/** Gives a run its inputs: globals. */
function provide(text: string): void {
  installInputs(decodeValue(text) as Record<string, unknown>);
}

function installFunction(name: string): void {
  if (name === "progress") return defineFunction(name, progress);
  defineFunction(name, (...args: unknown[]): Promise<unknown> => callHost(name, args));
  if (name === "call_tool") installTools();
}

/** Each input is a global, and all of them are one object, unless one of them has that name. */
function installInputs(inputs: Record<string, unknown>): void {
  const names = keysOf(inputs);
  for (let index = 0; index < names.length; index++)
    defineGlobal(names[index] as string, inputs[names[index] as string]);
  if (!hasOwn(inputs, "inputs")) defineGlobal("inputs", inputs);
}

/** Waits for the script and tells the host how it ended: nobody has to poll a promise from outside. */
async function finish(promise: Promise<unknown>, boxed: boolean): Promise<void> {
  try {
    keepConstructor(promise);
    const value = await promise;
    // The engine's async evaluation gives { value: completion }.
    const result = await called(boxed ? (value as { value: unknown }).value : value);
    // A returned value, else what was assigned to RESULT, else the last expression.
    const mayAssign = words[WORD.MAY_ASSIGN] === 1 && (boxed || result === undefined);
    const assigned = mayAssign ? assignedResult() : undefined;
    const given = assigned === undefined ? result : assigned;
    let answer = encodeResult(given, "");
    // A promise is written as an object without keys: only where there is one, the result is searched for promises.
    if (includes(answer, "{}")) answer = await encodeAwaited(given, answer);
    sendWaiting();
    host(KIND.DONE, unansweredCalls(), REPLY_OK + answer);
  } catch (error) {
    const text = REPLY_ERROR + describe(error);
    const open = unansweredCalls();
    sendWaiting();
    host(KIND.DONE, open, text);
  }
}

const unansweredCalls = (): number => openCalls() - openReports();

/** A script that is one function, as models like to write, is called. */
function called(value: unknown): unknown {
  return typeof value === "function" && !isClass(value) ? apply(value, undefined, []) : value;
}

const isClass = (value: unknown): boolean => {
  const text = functionToText(value);
  return indexOf(text, "class") === 0 && !isNamePart(text[5]);
};

const isNamePart = (char: string | undefined): boolean =>
  char !== undefined && char !== " " && char !== "{" && char !== "\n" && char !== "\t" && char !== "\r" && char !== "/";

/** The global RESULT, whether assigned or declared; undefined if there is none. */
function assignedResult(): unknown {
  if (getOwnPropertyDescriptor(globalThis, "RESULT") !== undefined) return (globalThis as { RESULT?: unknown }).RESULT;
  try {
    return evaluate("typeof RESULT === 'undefined' ? undefined : RESULT");
  } catch {
    return undefined;
  }
}

async function encodeAwaited(value: unknown, encoded: string): Promise<string> {
  const awaited = await awaitParts(value);
  return awaited === 0 ? encoded : encodeResult(value, awaitedNote(awaited));
}

function encodeResult(value: unknown, note: string): string {
  const most = config.maxResultBytes;
  try {
    const encoded = encodeValue(value, most);
    if (utf8Length(encoded.text, most) <= most) return withNotes(value, encoded, undefined, note);
  } catch (error) {
    if (!(error instanceof ValueLimit)) throw error;
    if (!config.truncate || error.reason === "depth") throw resultTooLarge(error);
  }
  if (!config.truncate) throw resultTooLarge(new ValueLimit("size"));
  return withNotes(value, shrinkToFit(value, most), most, note);
}

function withNotes(
  value: unknown,
  { text, dropped }: EncodedValue,
  truncatedTo: number | undefined,
  note: string,
): string {
  let notes = note === "" ? "" : stringify(note);
  if (typeof value === "function") notes = joined(notes, functionNote(value));
  else if (dropped > 0) notes = joined(notes, droppedNote(dropped));
  if (text !== undefined && includes(text, "[object Promise]")) notes = joined(notes, PROMISE_TEXT_NOTE);
  if (truncatedTo !== undefined) notes = joined(notes, truncatedNote(truncatedTo));
  return text === undefined ? "[[" + notes + "]]" : "[[" + notes + "]," + text + "]";
}

const joined = (notes: string, note: string): string => (notes === "" ? "" : notes + ",") + stringify(note);

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
