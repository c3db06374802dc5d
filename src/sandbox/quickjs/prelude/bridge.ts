import { decodeValue } from "../../values/decode.js";
import { encodeTreeValue, ValueLimit } from "../../values/encode.js";
import { NewError, NewPromise, NewTypeError, parse, slice, stringify } from "../../values/intrinsics.js";
import { KIND, REPLY_OK } from "../protocol.js";
import { config } from "./config.js";
import { host, newHostError, newTable, WORD, words } from "./host.js";

/** Further calls wait in the guest until one of these was answered: a flood must not fill the host's memory. */
const MOST_UNANSWERED = 64;

interface Open {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Where the script made the call: its answer comes without a stack. */
  stack: string;
}

let open = newTable<Open>();
let waiting = newTable<{ id: number; text: string }>();
let nextId = 0;
let unanswered = 0;
let firstWaiting = 0;
let lastWaiting = 0;
let messages = 0;

/** Calls of this run that have not been answered, those that still wait in here included. */
export const openCalls = (): number => unanswered + (lastWaiting - firstWaiting);

/** Forgets the calls of an earlier run in this memory: they were cancelled. Their ids are not used again. */
export function resetBridge(): void {
  open = newTable<Open>();
  waiting = newTable<{ id: number; text: string }>();
  unanswered = firstWaiting = lastWaiting = messages = 0;
}

/** Counts a message to the host. False when the run has used them up. */
export function countMessage(): boolean {
  return ++messages <= config.maxBridgeMessages;
}

/** Calls an external function. The promise settles with the host's answer. */
export function callHost(name: string, args: readonly unknown[]): Promise<unknown> {
  return new NewPromise((resolve, reject) => {
    const text = "[" + stringify(name) + "," + encodeArguments(name, args) + "]";
    if (!countMessage()) throw tooManyMessages();
    const id = ++nextId;
    open[id] = { resolve, reject, stack: new NewError().stack as string };
    if (unanswered < MOST_UNANSWERED) send(id, text);
    else waiting[lastWaiting++] = { id, text };
  });
}

function send(id: number, text: string): void {
  unanswered++;
  host(KIND.CALL, id, text);
}

/** An answer has come: `+` and the value, or `-` and the error. Unknown and settled ids are ignored. */
export function settle(text: string): void {
  const id = words[WORD.REPLY_ID] as number;
  const call = open[id];
  if (call === undefined) return;
  delete open[id];
  unanswered--;
  sendNext();
  if (text[0] === REPLY_OK) {
    call.resolve(decodeValue(slice(text, 1)));
    return;
  }
  const error = parse(slice(text, 1)) as { name: string; message: string; kind: string; details?: unknown };
  call.reject(newHostError(error.name, error.message, error.kind, error.details, call.stack));
}

function sendNext(): void {
  if (firstWaiting === lastWaiting) return;
  const next = waiting[firstWaiting] as { id: number; text: string };
  delete waiting[firstWaiting++];
  send(next.id, next.text);
}

function encodeArguments(name: string, args: readonly unknown[]): string {
  try {
    return encodeTreeValue(args, config.maxArgumentBytes).text as string;
  } catch (error) {
    if (!(error instanceof ValueLimit)) throw error;
    if (error.reason === "cycle")
      throw new NewTypeError("The arguments of " + name + " contain themselves: JSON has no form for a cycle");
    if (error.reason === "depth") throw new NewTypeError("The arguments of " + name + " are nested too deeply");
    throw newHostError(
      "LimitError",
      "The arguments of " + name + " are larger than " + config.maxArgumentBytes + " bytes. Send less at a time.",
      "limit",
      { limit: "maxArgumentBytes", most: config.maxArgumentBytes },
    );
  }
}

function tooManyMessages(): Error {
  return newHostError(
    "LimitError",
    "A script may send at most " + config.maxBridgeMessages + " messages to its host.",
    "limit",
    {
      limit: "maxBridgeMessages",
      most: config.maxBridgeMessages,
    },
  );
}
