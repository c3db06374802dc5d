import { CodeModeError, isErrorKind, LimitError, messageOf, type ErrorKind } from "../../errors.js";
import { mayHoldTags, reviveValue, type ReviveLimits } from "../values/decode.js";
import { encodeValue, ValueLimit } from "../values/encode.js";
import { rememberedJson } from "../values/json-text.js";
import { fitsAsJson, isPlainJson } from "../values/plain.js";

/** JSON of a value of the host. Plain JSON, the usual case, is written by the engine of the host itself. */
export function encodeForGuest(value: unknown): string {
  const known = rememberedJson(value);
  if (known !== undefined && !mayHoldTags(known)) return known;
  if (isPlainJson(value)) return JSON.stringify(value);
  return encodeValue(value, Infinity).text ?? encodeValue(undefined, Infinity).text ?? '{"@@":"undefined"}';
}

/** A call as the script sent it. */
export interface CallMessage {
  /** The external function. */
  name: string;
  args: unknown[];
}

/**
 * Reads a call message.
 *
 * @throws {Error} when it is none, {LimitError} when its arguments would keep the host busy.
 */
export function parseCall(text: string): CallMessage {
  const [name, args] = listOf(JSON.parse(text));
  if (typeof name !== "string" || !Array.isArray(args)) throw new Error("Unknown function");
  return { name, args: (mayHoldTags(text) ? revived(args) : args) as unknown[] };
}

/** A call message in words, for notes: whatever it is. */
export function describeCall(text: string): string {
  try {
    const { name, args } = parseCall(text);
    return typeof args[0] === "string" ? `${name}(${JSON.stringify(args[0].slice(0, MOST_SHOWN))})` : name;
  } catch {
    return "A call";
  }
}

const MOST_SHOWN = 100;

/** Shared parts are written out up to here where the user has removed `maxResultBytes`: to look further takes seconds. */
const MOST_RESULT_UNITS = 1 << 24;

/** Room for notes beside the result. */
const MOST_NOTES = 1 << 16;

/**
 * Reads what a script returned: its notes and its value. The guest keeps the limit too, as long as it is sound.
 *
 * @throws {LimitError} when the value takes more than `maxBytes` as JSON, which its own text need not: parts of it may occur many times.
 */
export function readResult(text: string, maxBytes: number): { notes: unknown[]; value: unknown } {
  if (text.length > maxBytes + MOST_NOTES) throw tooLarge(maxBytes);
  const [notes, value] = listOf(JSON.parse(text));
  if (!mayHoldTags(text)) return { notes: listOf(notes), value };
  const result = revived(value);
  checkWrittenOut(result, maxBytes);
  return { notes: listOf(notes), value: result };
}

function checkWrittenOut(value: unknown, maxBytes: number): void {
  if (!fitsAsJson(value, Math.min(maxBytes, MOST_RESULT_UNITS)))
    throw tooLarge(maxBytes, " once its shared parts are written out");
}

const tooLarge = (maxBytes: number, how = ""): LimitError =>
  new LimitError(
    `The result is larger than the limit of ${maxBytes} bytes${how}. Return less: filter and aggregate inside the script.`,
    { details: { limit: "maxResultBytes", most: maxBytes } },
  );

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** A thousand times what honest scripts send; reading that much of the worst there is takes V8 about 20 ms. */
const REVIVE_LIMITS: ReviveLimits = { digits: 10_000, keys: 4_096 };

function revived(value: unknown): unknown {
  try {
    return reviveValue(value, REVIVE_LIMITS);
  } catch (error) {
    if (error instanceof ValueLimit) throw tooMuch(error);
    throw error;
  }
}

function tooMuch({ reason }: ValueLimit): LimitError {
  const { digits, keys } = REVIVE_LIMITS;
  if (reason === "digits")
    return new LimitError(`A BigInt of more than ${digits} digits cannot leave a script. Send its text.`, {
      details: { limit: "bigIntDigits", most: digits },
    });
  return new LimitError(
    `Maps and Sets with more than ${keys} numbers as keys cannot leave a script. Send an array: [...set].`,
    { details: { limit: "numberKeys", most: keys } },
  );
}

/** What a script gets of an error of the host, as JSON. Never throws, whatever was thrown. */
export function errorForGuest(error: unknown): string {
  let described: Partial<Record<keyof DescribedError, unknown>> = {};
  try {
    described = describeForGuest(error);
    return JSON.stringify(described);
  } catch {
    // Details that are no JSON must not cost the script its answer.
    const { name, message, kind } = described;
    return JSON.stringify({
      name: typeof name === "string" ? name : "Error",
      message: typeof message === "string" ? message : "The function failed.",
      kind: isErrorKind(kind) ? kind : "tool",
    });
  }
}

interface DescribedError {
  name: string;
  message: string;
  kind: ErrorKind;
  details?: unknown;
}

/** What a script may know of an error of the host: its message and kind, never its stack or cause. */
function describeForGuest(error: unknown): DescribedError {
  if (!CodeModeError.isInstance(error)) {
    const name = error instanceof Error ? error.name : "Error";
    return { name, message: messageOf(error), kind: "tool" };
  }
  return {
    name: error.name,
    message: error.message,
    kind: error.kind,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}
