import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";
import type { Pointer, RawEngine } from "./engine.js";

/** What the script does with its one function of the host. `text` is only read when the handler calls it. */
export type HostHandler = (kind: number, id: number, text: GuestText) => void;

/** Text in guest memory, readable while the handler runs. */
export interface GuestText {
  /** Calls `use` with its place: UTF-8, valid until `use` returns. */
  read(use: (bytes: Uint8Array, at: number, length: number) => void): void;
}

/** There was no room in the guest for a text of the host. */
export class OutOfGuestMemory extends Error {
  override readonly name = "OutOfGuestMemory";
}

/**
 * Makes `__host(kind, id, text)`. Its calls skip quickjs-emscripten's handles: two numbers and a string pointer are read
 * from the arguments, 8 bytes each. The first call, from here, tells the function's id.
 */
export function installHostFunction(
  raw: RawEngine,
  contextAt: Pointer,
  context: QuickJSContext,
  handle: HostHandler,
): void {
  const { callbacks } = raw;
  const general = callbacks.callFunction.bind(callbacks);
  let hostId: number | undefined;
  let learning = true;
  callbacks.callFunction = (asyncify, ctx, self, count, args, id) => {
    if (learning) hostId = id;
    if (learning || id !== hostId) return general(asyncify, ctx, self, count, args, id);
    const text: GuestText = { read: (use) => readCString(raw, contextAt, args + 16, use) };
    handle(raw._QTS_GetFloat64(contextAt, args), raw._QTS_GetFloat64(contextAt, args + 8), text);
    return 0;
  };
  context.newFunction("__host", () => {}).consume((fn) => context.setProp(context.global, "__host", fn));
  context.unwrapResult(context.evalCode('__host(0, 0, "")')).dispose();
  learning = false;
}

/** Calls `use` with the place of an engine value's text: UTF-8, valid until `use` returns. */
export function readCString(
  raw: RawEngine,
  context: Pointer,
  value: Pointer,
  use: (bytes: Uint8Array, at: number, length: number) => void,
): void {
  const at = raw._QTS_GetString(context, value);
  if (at === 0) throw new OutOfGuestMemory();
  const bytes = raw.HEAPU8;
  use(bytes, at, bytes.indexOf(0, at) - at);
  raw._QTS_FreeCString(context, at);
}

/** A text that stays in the engine's memory. */
export function newCString(raw: RawEngine, text: string): Pointer {
  const bytes = Buffer.from(`${text}\0`);
  const at = raw._malloc(bytes.length);
  raw.HEAPU8.set(bytes, at);
  return at;
}
/** A handle of quickjs-emscripten for a value that was made past it. */
export function handleOf(context: QuickJSContext, at: Pointer): QuickJSHandle {
  const { memory } = context as unknown as { memory: { heapValueHandle(at: Pointer): QuickJSHandle } };
  return memory.heapValueHandle(at);
}
