import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as imported from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";

/** An address in WebAssembly memory. */
export type Pointer = number;

/**
 * The part of the engine's compiled module that we call directly, past the handle classes of quickjs-emscripten: they
 * cost several microseconds a call. It is not a stable interface, so the version is pinned and a test calls each function.
 */
export interface RawEngine {
  readonly HEAPU8: Uint8Array;
  readonly callbacks: {
    callFunction(asyncify: unknown, context: Pointer, self: Pointer, count: number, args: Pointer, id: number): Pointer;
  };
  _malloc(bytes: number): Pointer;
  _free(at: Pointer): void;
  _QTS_Eval(
    context: Pointer,
    code: Pointer,
    length: number,
    fileName: Pointer,
    detectModule: number,
    flags: number,
  ): Pointer;
  _QTS_Call(context: Pointer, fn: Pointer, self: Pointer, count: number, args: Pointer): Pointer;
  _QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  _QTS_NewString(context: Pointer, text: Pointer): Pointer;
  _QTS_GetString(context: Pointer, value: Pointer): Pointer;
  _QTS_FreeCString(context: Pointer, text: Pointer): void;
  _QTS_GetFloat64(context: Pointer, value: Pointer): number;
  _QTS_NewArrayBuffer(context: Pointer, at: Pointer, length: number): Pointer;
  _QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  _QTS_FreeValuePointerRuntime(runtime: Pointer, value: Pointer): void;
  _QTS_ExecutePendingJob(runtime: Pointer, most: number, lastContext: Pointer): Pointer;
  _QTS_RuntimeSetMemoryLimit(runtime: Pointer, bytes: number): void;
  _QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
}

/** QuickJS in memory of ours. */
export interface LoadedEngine {
  quickjs: QuickJSWASMModule;
  raw: RawEngine;
  memory: WebAssembly.Memory;
}

/** The variant: an ES module gives it as default, a CommonJS one inside of another default. */
const base = innermostDefault(imported) as QuickJSSyncVariant;

function innermostDefault(module: object): object {
  return "default" in module ? innermostDefault(module.default as object) : module;
}

/**
 * Keeps the process out of the engine's memory while it is set up: the clock, from which the engine seeds its random
 * state, and the language of the machine, which is copied into its environment. Otherwise no two processes would have
 * the same image, and a paused script could not move between them.
 */
export function inNeutralSurroundings<T>(work: () => T): T {
  const clock = Date.now;
  const navigator = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Date.now = () => 1;
  if (navigator?.configurable === true)
    Object.defineProperty(globalThis, "navigator", { value: undefined, configurable: true });
  try {
    return work();
  } finally {
    Date.now = clock;
    if (navigator?.configurable === true) Object.defineProperty(globalThis, "navigator", navigator);
  }
}

/** Options of the compiled module: it must not write to the process's output, and its program's path would get into its memory. */
function moduleOptions(): object {
  let leave: () => void = () => {};
  const enter = (): void => {
    const navigator = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    if (navigator?.configurable !== true) return;
    Object.defineProperty(globalThis, "navigator", { value: undefined, configurable: true });
    leave = () => Object.defineProperty(globalThis, "navigator", navigator);
  };
  // Both are called in one turn, around the module's own start.
  return { print() {}, printErr() {}, thisProgram: "quickjs", preRun: [enter], onRuntimeInitialized: () => leave() };
}

const PAGE_BYTES = 65_536;
/** The module imports a memory of at least this size (256 pages). */
const INITIAL_PAGES = 256;

/** The engine's code, compiled, and its identity. Both can be posted to workers. */
export interface CompiledEngine {
  wasmModule: WebAssembly.Module;
  /** SHA-256 of the code. */
  engineHash: Uint8Array;
}

let compiled: CompiledEngine | undefined;

/** Compiles the engine, once per process: workers share the result. About 5 ms. */
export function compiledEngine(): CompiledEngine {
  if (compiled !== undefined) return compiled;
  const bytes = readFileSync(createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
  compiled = { wasmModule: new WebAssembly.Module(bytes), engineHash: createHash("sha256").update(bytes).digest() };
  return compiled;
}

/**
 * Instantiates the engine with a memory that cannot grow past `memoryBytes`. This is the only true cap: the engine's
 * own `setMemoryLimit` counts eight bytes an allocation in this build, and let it grow to 2 GiB.
 */
export async function loadEngine(wasmModule: WebAssembly.Module, memoryBytes: number): Promise<LoadedEngine> {
  const memory = new WebAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: Math.max(INITIAL_PAGES, Math.floor(memoryBytes / PAGE_BYTES)),
  });
  const variant = newVariant(base, { wasmModule, wasmMemory: memory, emscriptenModule: moduleOptions() });
  let raw: RawEngine | undefined;
  const importLoader = variant.importModuleLoader;
  const importAndKeep = async () => {
    const load = innermostDefault(await importLoader()) as (options?: object) => Promise<unknown>;
    return async (options?: object) => {
      raw = (await load(options)) as RawEngine;
      return raw;
    };
  };
  const kept = { ...variant, importModuleLoader: importAndKeep } as unknown as QuickJSSyncVariant;
  const quickjs = await newQuickJSWASMModuleFromVariant(kept);
  if (raw === undefined) throw new Error("quickjs-emscripten did not load its module through the given loader");
  return { quickjs, raw, memory };
}
