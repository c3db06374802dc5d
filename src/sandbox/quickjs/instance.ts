// oxlint-disable-next-line import/default -- made by the build: see build/guest-source.ts
import prelude from "./prelude/index.ts?guest";
// oxlint-disable-next-line import/default -- likewise
import webPrelude from "./prelude/web.ts?guest";
import {
  inNeutralSurroundings,
  loadEngine,
  type CompiledEngine,
  type LoadedEngine,
  type Pointer,
  type RawEngine,
} from "./engine.js";
import {
  handleOf,
  installHostFunction,
  newCString,
  OutOfGuestMemory,
  readCString,
  type HostHandler,
} from "./host-function.js";
import { captureAgain, restoreImage, restoreImageFully, takeImage, type BaseImage } from "./image.js";
import { applySnapshot, imageHash, readSnapshot, saveSnapshot, type EngineIdentity } from "./snapshot.js";

const GUEST_FUNCTIONS = ["begin", "provide", "finish", "settle", "tick", "describe"] as const;
/** A function of the guest's side that the host may call. */
export type GuestFunction = (typeof GUEST_FUNCTIONS)[number];

/** Size of the block that guest and host share: see prelude/host.ts. */
const CONTROL_BYTES = 64;
/** Texts up to this size go through one standing buffer instead of an allocation. */
const INPUT_BYTES = 1 << 16;
/** Stack while the prelude is set up. */
const SETUP_STACK_BYTES = 1 << 16;
/** JS_EVAL_FLAG_ASYNC: top-level await, and a promise of { value: completion }. */
const EVAL_ASYNC = 1 << 7;
/** An exception's tag word in an engine value. */
const EXCEPTION_TAG = -1;

export interface InstanceOptions {
  engine: CompiledEngine;
  /** Hard cap of the engine's memory. */
  memoryBytes: number;
  /** Largest stack a script may get in this thread: a run may ask for less. */
  maxStackBytes: number;
}

/** One engine: its memory, its base image and the calls a run needs. Knows nothing of threads, limits or messages. */
export class Instance {
  /** Set by a trap: the stack pointer of the engine is then wrong for ever, and the instance must be dropped. */
  broken = false;
  /** Called by the engine every few thousand steps: true interrupts the script. */
  onInterrupt: () => boolean = () => false;
  onHost: HostHandler = () => {};

  private view: DataView;
  /** The engine after `begin`, kept for the next run with the same configuration: most runs of a process have the same. */
  private configured: { text: string; image: BaseImage } | undefined;
  /** Memory came from a snapshot: nothing the engine says about itself can be believed until it is reset. */
  private foreign = false;
  private imageHash: Uint8Array | undefined;

  private constructor(
    private readonly raw: RawEngine,
    readonly memory: WebAssembly.Memory,
    readonly memoryBytes: number,
    private readonly at: Places,
    private readonly image: BaseImage,
    private readonly engineHash: Uint8Array,
  ) {
    this.view = new DataView(memory.buffer);
  }

  /** A new engine with the prelude in it. About 1 ms from a compiled module, more for the first one of a thread. */
  static async create(options: InstanceOptions): Promise<Instance> {
    const loaded = await loadEngine(options.engine.wasmModule, options.memoryBytes);
    return inNeutralSurroundings(() => Instance.setUp(loaded, options));
  }

  private static setUp({ quickjs, raw, memory }: LoadedEngine, options: InstanceOptions): Instance {
    const firstAllocation = raw._malloc(16);
    const runtime = quickjs.newRuntime();
    // The limits of a run are set for each one: with its own they would make the image of every engine another.
    runtime.setMaxStackSize(SETUP_STACK_BYTES);
    const made: { instance?: Instance } = {};
    runtime.setInterruptHandler(() => made.instance?.onInterrupt() ?? false);
    const context = runtime.newContext();
    const pointer = (value: unknown): Pointer => (value as { value: Pointer }).value;
    const contextAt = pointer((context as unknown as { ctx: unknown }).ctx);
    const runtimeAt = pointer((runtime as unknown as { rt: unknown }).rt);

    installHostFunction(raw, contextAt, context, (kind, id, text) => made.instance?.onHost(kind, id, text));
    const control = raw._malloc(CONTROL_BYTES);
    new Uint8Array(memory.buffer, control, CONTROL_BYTES).fill(0);
    const bufferAt = raw._QTS_NewArrayBuffer(contextAt, control, CONTROL_BYTES);
    context.setProp(context.global, "__control", handleOf(context, bufferAt));
    for (const source of [prelude, webPrelude]) context.unwrapResult(context.evalCode(source, "prelude.js")).dispose();
    const api = context.getProp(context.global, "__prelude");
    const functions = Object.fromEntries(GUEST_FUNCTIONS.map((name) => [name, pointer(context.getProp(api, name))]));
    context.unwrapResult(context.evalCode("delete globalThis.__prelude")).dispose();

    const places: Places = {
      context: contextAt,
      runtime: runtimeAt,
      functions: functions as Record<GuestFunction, Pointer>,
      undefined: pointer(context.undefined),
      true: pointer(context.true),
      false: pointer(context.false),
      control,
      fileName: newCString(raw, "script.js"),
      input: raw._malloc(INPUT_BYTES + 1),
      args: raw._malloc(16),
      out: raw._malloc(8),
    };
    const instance = new Instance(
      raw,
      memory,
      options.memoryBytes,
      places,
      takeImage(memory, raw, firstAllocation, options.maxStackBytes),
      options.engine.engineHash,
    );
    made.instance = instance;
    instance.reset();
    return instance;
  }

  /** The base image back: nothing of a run is left. */
  reset(): void {
    this.onHost = () => {};
    this.onInterrupt = () => false;
    const image = this.configured?.image ?? this.image;
    if (this.foreign) restoreImageFully(this.memory, image);
    else restoreImage(this.memory, image);
    this.foreign = false;
  }

  /** Gets the guest ready for runs with this configuration (JSON text). The text of an exception, if there was one. */
  configure(text: string): string | undefined {
    if (this.configured?.text === text) return undefined;
    restoreImage(this.memory, this.image);
    this.configured = undefined;
    const bytes = Buffer.from(text);
    const error = this.call("begin", { bytes, at: 0, length: bytes.length });
    if (error === undefined) this.configured = { text, image: captureAgain(this.memory, this.image) };
    return error;
  }

  /** The same in memory that was saved at the end of a run: its globals stay, what belonged to that run goes. */
  configureIn(snapshot: Uint8Array, text: string): string | undefined {
    this.load(snapshot);
    const bytes = Buffer.from(text);
    return this.call("begin", { bytes, at: 0, length: bytes.length });
  }

  /** Bytes of memory the engine has taken; it never gives any back. */
  get memorySize(): number {
    return this.memory.buffer.byteLength;
  }

  /** Limits of the run that comes: the engine's own memory limit stops one huge request at once, the sum is bounded by the memory itself. */
  setLimits(maxStackBytes: number): void {
    this.raw._QTS_RuntimeSetMemoryLimit(this.at.runtime, this.memoryBytes);
    this.raw._QTS_RuntimeSetMaxStackSize(this.at.runtime, maxStackBytes);
  }

  /** Memory as it is, as bytes: see snapshot.ts. Only between two turns of a script. */
  save(note: unknown): Uint8Array {
    return saveSnapshot(this.memory, this.image, this.identity(), note);
  }

  /**
   * Memory as it was saved, in this instance or another one. Returns the note.
   *
   * @throws {SandboxError} when the bytes are no snapshot for this engine.
   */
  load(snapshot: Uint8Array): unknown {
    const content = readSnapshot(snapshot, this.image, this.identity(), this.memoryBytes);
    this.foreign = true;
    restoreImage(this.memory, this.image);
    this.reserve(content.end);
    applySnapshot(this.raw.HEAPU8, this.image, content);
    return content.note;
  }

  /** Grows memory through the engine's own allocator, which renews its views: growing it from outside would detach them. */
  private reserve(end: number): void {
    if (end <= this.memorySize) return;
    if (this.raw._malloc(end - this.image.heap.end) === 0) throw new OutOfGuestMemory();
    restoreImage(this.memory, this.image);
  }

  private identity(): EngineIdentity {
    this.imageHash ??= imageHash(this.image);
    return { engineHash: this.engineHash, imageHash: this.imageHash };
  }

  /** A word of the control block: see prelude/host.ts. */
  setControl(word: number, value: number): void {
    this.memoryView().setUint32(this.at.control + word * 4, value >>> 0, true);
  }

  /** Sets a 64-bit float of the control block. */
  setControlTime(index: number, value: number): void {
    this.memoryView().setFloat64(this.at.control + index * 8, value, true);
  }

  /** A 64-bit float of the control block. */
  controlTime(index: number): number {
    return this.memoryView().getFloat64(this.at.control + index * 8, true);
  }

  /** Evaluates a script. `async`: top-level await is allowed, and the value is a promise of a boxed completion. */
  evaluate(code: string, async: boolean): { value: Pointer; error: string | undefined } {
    const bytes = Buffer.from(`${code}\0`);
    const at = this.place(bytes, 0, bytes.length - 1);
    const flags = async ? EVAL_ASYNC : 0;
    const value = this.raw._QTS_Eval(this.at.context, at, bytes.length - 1, this.at.fileName, 0, flags);
    return { value, error: this.exceptionOf(value) };
  }

  /** Hands the script's promise to the guest, which reports its end by itself. */
  finish(promise: Pointer, boxed: boolean): void {
    this.free(this.callWith("finish", promise, boxed ? this.at.true : this.at.false));
    // The guest has it now. A session keeps this memory: what nobody frees would grow with every script.
    this.free(promise);
  }

  /** Calls a function of the guest's side with a text, or with nothing. The text of its exception, if it threw. */
  call(name: GuestFunction, text?: { bytes: Uint8Array; at: number; length: number }): string | undefined {
    if (text === undefined) return this.freeAndReport(this.callWith(name));
    const value = this.newString(text.bytes, text.at, text.length);
    const result = this.callWith(name, value);
    this.free(value);
    return this.freeAndReport(result);
  }

  /** Runs at most `most` jobs (promise reactions). Jobs done, or -1 when one was interrupted. */
  runJobs(most: number): number {
    const result = this.raw._QTS_ExecutePendingJob(this.at.runtime, most, this.at.out);
    // The tag is read from memory: asking for a number would run `valueOf` of a thrown object.
    const threw = this.memoryView().getInt32(result + 4, true) === EXCEPTION_TAG;
    const done = threw ? -1 : this.raw._QTS_GetFloat64(this.at.context, result);
    this.raw._QTS_FreeValuePointerRuntime(this.at.runtime, result);
    return done;
  }

  private callWith(name: GuestFunction, first?: Pointer, second?: Pointer): Pointer {
    const view = this.memoryView();
    if (first !== undefined) view.setInt32(this.at.args, first, true);
    if (second !== undefined) view.setInt32(this.at.args + 4, second, true);
    const count = first === undefined ? 0 : second === undefined ? 1 : 2;
    return this.raw._QTS_Call(this.at.context, this.at.functions[name], this.at.undefined, count, this.at.args);
  }

  private freeAndReport(value: Pointer): string | undefined {
    const error = this.exceptionOf(value);
    if (error === undefined) this.free(value);
    return error;
  }

  private exceptionOf(value: Pointer): string | undefined {
    const error = this.raw._QTS_ResolveException(this.at.context, value);
    if (error === 0) return undefined;
    const described = this.callWith("describe", error);
    let text: string | undefined;
    readCString(this.raw, this.at.context, described, (bytes, at, length) => {
      text = Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString();
    });
    for (const used of [described, error, value]) this.free(used);
    return text;
  }

  private newString(bytes: Uint8Array, from: number, length: number): Pointer {
    const at = this.place(bytes, from, length);
    const value = this.raw._QTS_NewString(this.at.context, at);
    if (at !== this.at.input) this.raw._free(at);
    return value;
  }

  /** Copies text into guest memory, with the NUL that C wants behind it. */
  private place(bytes: Uint8Array, from: number, length: number): Pointer {
    const at = length > INPUT_BYTES ? this.raw._malloc(length + 1) : this.at.input;
    if (at === 0) throw new OutOfGuestMemory();
    const heap = this.raw.HEAPU8;
    heap.set(bytes.subarray(from, from + length), at);
    heap[at + length] = 0;
    return at;
  }

  private free(value: Pointer): void {
    this.raw._QTS_FreeValuePointer(this.at.context, value);
  }

  private memoryView(): DataView {
    // Growing memory detaches views of it.
    if (this.view.buffer !== this.memory.buffer) this.view = new DataView(this.memory.buffer);
    return this.view;
  }
}

interface Places {
  context: Pointer;
  runtime: Pointer;
  functions: Record<GuestFunction, Pointer>;
  undefined: Pointer;
  true: Pointer;
  false: Pointer;
  control: Pointer;
  fileName: Pointer;
  input: Pointer;
  args: Pointer;
  out: Pointer;
}
