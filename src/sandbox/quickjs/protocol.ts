import type { Rewrite } from "../script/rewrite.js";

/**
 * What crosses between host, worker and guest. The guest knows one function of its host, `host(kind, id, text)`; between
 * threads the same three things travel as a frame, with the id of the run in front.
 */

/** Kinds of messages. Down: from the host. Up: from the script. */
export const KIND = {
  /** Down: {@link RunRequest} as JSON. */
  RUN: 1,
  /** Down: an answer to a call, {@link REPLY_OK} or {@link REPLY_ERROR} in front of it. */
  REPLY: 2,
  /** Up: `[name of the function, [arguments]]`; the id is the call's. */
  CALL: 3,
  /** Up: `[level, text]`. */
  LOG: 4,
  /** Up: the end of the script, {@link REPLY_OK} with `[notes, value?]` or {@link REPLY_ERROR} with {@link GuestError}. */
  DONE: 5,
  /** Up, from the worker alone: {@link RunReport} as JSON. The last message of a run. */
  REPORT: 6,
  /** Down: pause the script if exactly these calls are open; a JSON list of their ids. */
  SUSPEND: 7,
  /** Both ways, bytes: memory to start from, before RUN; or memory at the end of a run, before REPORT. */
  SNAPSHOT: 8,
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

export const REPLY_OK = "+";
export const REPLY_ERROR = "-";

/** How the guest describes an error. Every field is hostile text. */
export interface GuestError {
  name: string;
  message: string;
  stack: string;
  /** Set when the error came from the host, by identity: a script cannot claim one. */
  kind?: string;
  details?: unknown;
}

/** Everything the guest needs to know at the start of a run. */
export interface GuestConfig {
  /** Names of the external functions. */
  functions: readonly string[];
  maxLogBytes: number;
  maxResultBytes: number;
  maxArgumentBytes: number;
  maxBridgeMessages: number;
  truncate: boolean;
}

/** A run, as the worker gets it. Limits that were removed are `null` (JSON has no Infinity). */
export interface RunRequest {
  code: string;
  /** {@link GuestConfig} as JSON: as text, so that an equal one is recognised at a glance. */
  config: string;
  /** Encoded inputs, an object; null when there are none. */
  inputs: string | null;
  /** Start from the snapshot that was sent before: "resume" goes on with its open calls, "session" runs new code in it. */
  from: "resume" | "session" | null;
  /** Ids of the open calls to go on with. */
  openCalls: readonly number[];
  /** Send the memory at the end, for a later "session". */
  keepSnapshot: boolean;
  maxBridgeMessages: number;
  timeoutMs: number | null;
  cpuMs: number | null;
  memoryBytes: number;
  maxStackBytes: number;
  /** Four random 32-bit words: the state of the script's random numbers. */
  seed: readonly number[];
}

/** How a run ended, as the worker saw it: what it knows by itself stands above what the guest said. */
export interface RunReport {
  /** Absent: DONE has come and holds. */
  failure?: {
    kind: "syntax" | "runtime" | "timeout" | "memory" | "stack" | "cancelled" | "limit" | "sandbox";
    error: GuestError;
    /** Where in the request's code, when the error's stack does not say. */
    offset?: number;
  };
  /** What was evaluated instead of the request's code. */
  rewrite?: Rewrite;
  /** The script was paused, and its memory has been sent. */
  suspended?: boolean;
  notes: readonly string[];
  /** The script was evaluated behind this many characters, all on its first line. */
  columnShift: number;
  stats: { cpuMs: number; memoryBytes: number; messages: number };
}
