import { apply, NewTypeError, toNumber } from "../../values/intrinsics.js";
import { append, defineClass } from "./define.js";
import { domException } from "./dom-exception.js";
import { forEachOf } from "./iterate.js";

/** As the first script of the prelude made it. */
const startTimer = setTimeout;

type Listener = (event: object) => unknown;

interface State {
  aborted: boolean;
  reason: unknown;
  listeners: { listener: Listener; once: boolean }[];
}

/** Only the functions here make signals: `new AbortSignal()` of a script is refused, as everywhere. */
let making: State | undefined;

class Signal {
  readonly #state: State;
  onabort: unknown = null;

  constructor() {
    if (making === undefined) throw new NewTypeError("Illegal constructor: use new AbortController()");
    this.#state = making;
    making = undefined;
  }

  static abort(reason?: unknown): Signal {
    const signal = newSignal();
    abortSignal(signal, reason);
    return signal;
  }

  static timeout(ms: unknown): Signal {
    const signal = newSignal();
    startTimer(() => abortSignal(signal, domException("The operation timed out.", "TimeoutError")), toNumber(ms));
    return signal;
  }

  static any(signals: Iterable<Signal>): Signal {
    const combined = newSignal();
    forEachOf(signals, (signal) => {
      const state = stateOf(signal as Signal);
      if (state.aborted) abortSignal(combined, state.reason);
      else append(state.listeners, { listener: () => abortSignal(combined, state.reason), once: true });
    });
    return combined;
  }

  get aborted(): boolean {
    return this.#state.aborted;
  }

  get reason(): unknown {
    return this.#state.reason;
  }

  throwIfAborted(): void {
    if (this.#state.aborted) throw this.#state.reason;
  }

  addEventListener(type: unknown, listener: unknown, options?: { once?: unknown }): void {
    if (type !== "abort" || typeof listener !== "function") return;
    append(this.#state.listeners, { listener: listener as Listener, once: options?.once === true });
  }

  removeEventListener(type: unknown, listener: unknown): void {
    const { listeners } = this.#state;
    if (type !== "abort") return;
    const kept: State["listeners"] = [];
    for (let index = 0; index < listeners.length; index++) {
      const entry = listeners[index] as (typeof listeners)[number];
      if (entry.listener !== listener) append(kept, entry);
    }
    this.#state.listeners = kept;
  }

  static stateOf(this: void, signal: Signal): State {
    return signal.#state;
  }
}

const { stateOf } = Signal;
delete (Signal as { stateOf?: unknown }).stateOf;

function newSignal(): Signal {
  making = { aborted: false, reason: undefined, listeners: [] };
  return new Signal();
}

function abortSignal(signal: Signal, reason: unknown): void {
  const state = stateOf(signal);
  if (state.aborted) return;
  state.aborted = true;
  state.reason = reason === undefined ? domException("This operation was aborted", "AbortError") : reason;
  const { listeners } = state;
  state.listeners = [];
  const event = { type: "abort", target: signal };
  if (typeof signal.onabort === "function") apply(signal.onabort, signal, [event]);
  for (let index = 0; index < listeners.length; index++) {
    const entry = listeners[index] as (typeof listeners)[number];
    apply(entry.listener, signal, [event]);
    if (!entry.once) append(state.listeners, entry);
  }
}

class Controller {
  readonly #signal = newSignal();

  get signal(): Signal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason);
  }
}

/** `AbortController` and `AbortSignal`, without the rest of events. */
export function installAbort(): void {
  defineClass("AbortSignal", Signal);
  defineClass("AbortController", Controller);
}
