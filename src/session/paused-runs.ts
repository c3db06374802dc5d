import { randomBytes } from "node:crypto";
import { SandboxError, ValidationError } from "../errors.js";
import { packRun, unpackRun } from "./run-record.js";
import type { Sealer } from "./seal.js";
import { StoreConflictError, type SessionStore } from "./store.js";

/** What a person or a host says about one call of a paused run. */
export type RunDecision =
  | { action: "allow"; arguments?: Record<string, unknown> | undefined }
  | { action: "deny"; reason?: string | undefined };

/** How a call ended that was under way when its run was paused. */
export type LateAnswer = { value: unknown } | { error: { message: string; kind: string } };

/** One call that a paused run waits for. */
export interface PausedCall {
  /** Names it within its run. */
  callId: number;
  tool: string;
  server?: string | undefined;
  /** As the tool will get them: a decision is about exactly these. */
  arguments: Record<string, unknown>;
  reason?: string | undefined;
  /** A person has to decide about it; or it was under way already. */
  waitsFor: "decision" | "answer";
  decision?: RunDecision | undefined;
  answer?: LateAnswer | undefined;
}

/** A run that waits for somebody, as a host sees it. Times in milliseconds since 1970. */
export interface PausedRun {
  run: string;
  server?: string | undefined;
  callerId?: string | undefined;
  createdAt: number;
  /** From then on it cannot go on any more. */
  expiresAt: number;
  /** What it takes at rest. */
  bytes: number;
  pending: readonly {
    callId: number;
    tool: string;
    server?: string | undefined;
    arguments: unknown;
    reason?: string | undefined;
    /** What was decided; absent: nothing yet. */
    decision?: RunDecision["action"] | undefined;
  }[];
}

/** What a person or a host does with paused runs; never reachable by a meta-tool. */
export interface Runs {
  /** The runs that wait for a decision, in no order. */
  runs(): Promise<readonly PausedRun[]>;
  /**
   * Decides about one call of a run. The run goes on when `resume` is called for it; until then a decision can be replaced.
   *
   * @throws {ValidationError} when there is no such run or call, the run does not wait any more, or the decision is none.
   */
  decide(
    runId: string,
    callId: number,
    decision: { action: "allow"; arguments?: Record<string, unknown> } | { action: "deny" | "ask"; reason?: string },
  ): Promise<void>;
  /** Ends a run that waits. @throws {ValidationError} as {@link Runs.decide}. */
  cancel(runId: string): Promise<void>;
}

/** Everything about a paused run but its memory. Host's own facts: nothing in it comes out of the memory of a script. */
export interface RunRecord {
  server: string | undefined;
  callerId: string | undefined;
  createdAt: number;
  expiresAt: number;
  /** "running": somebody has claimed it. "done": `outcome` is there. */
  status: "waiting" | "running" | "done" | "cancelled";
  pending: PausedCall[];
  /** What the run needs to go on: plain data of whoever runs scripts. */
  state: unknown;
  /** How it ended: plain data. */
  outcome?: unknown;
}

/** A record as it stands in the store. */
export interface StoredRun {
  run: string;
  record: RunRecord;
  /** The script's memory; empty once the run was claimed. */
  snapshot: Uint8Array;
  revision: string;
  bytes: number;
}

/** Options of {@link PausedRuns}. */
export interface PausedRunsOptions {
  store: SessionStore;
  sealer: Sealer;
  /** How long a person has time to answer. */
  humanWaitMs: number;
}

const PREFIX = "run/";
const PURPOSE = "paused run";
/** 128 bits: knowing one is what lets an anonymous caller go on with it. */
const ID_BYTES = 16;
const ID = new RegExp(`^[0-9a-f]{${ID_BYTES * 2}}$`);
/** An ended or expired run is remembered this much longer, to say so. */
const REMEMBERED_MS = 600_000;
const NOTHING = new Uint8Array();
const MAX_ATTEMPTS = 50;

/** Paused runs in a {@link SessionStore}, sealed. Whoever claims one is the only one to go on with it, in any process. */
export class PausedRuns implements Runs {
  readonly #store: SessionStore;
  readonly #sealer: Sealer;
  readonly #humanWaitMs: number;

  constructor({ store, sealer, humanWaitMs }: PausedRunsOptions) {
    this.#store = store;
    this.#sealer = sealer;
    this.#humanWaitMs = humanWaitMs;
  }

  /** Keeps a run that was just paused. */
  async keep(
    facts: Pick<RunRecord, "server" | "callerId" | "pending" | "state">,
    snapshot: Uint8Array,
  ): Promise<StoredRun> {
    const run = randomBytes(ID_BYTES).toString("hex");
    const createdAt = Date.now();
    const record: RunRecord = { ...facts, createdAt, expiresAt: createdAt + this.#humanWaitMs, status: "waiting" };
    return this.#put({ run, record, snapshot }, "absent");
  }

  /** The run of that name; undefined when there is none, it was dropped, or it is of another secret. */
  async find(run: string): Promise<StoredRun | undefined> {
    if (typeof run !== "string" || !ID.test(run)) return undefined;
    const entry = await this.#store.get(PREFIX + run);
    if (entry === undefined) return undefined;
    const opened = this.#sealer.open(PURPOSE, entry.bytes, PREFIX + run);
    return { run, ...unpackRun(opened), revision: entry.revision, bytes: entry.bytes.length };
  }

  /**
   * Takes a waiting run, to go on with it. Of any number of callers in any number of processes one gets it.
   *
   * @returns undefined when somebody else was quicker, or has changed it meanwhile.
   */
  async claim(stored: StoredRun): Promise<StoredRun | undefined> {
    const { snapshot } = stored;
    const claimed = await this.#replace(stored, { ...stored.record, status: "running" }, NOTHING);
    return claimed && { ...claimed, snapshot };
  }

  /** A claimed run was paused again. */
  async pauseAgain(
    claimed: StoredRun,
    { pending, state }: Pick<RunRecord, "pending" | "state">,
    snapshot: Uint8Array,
  ): Promise<StoredRun | undefined> {
    const expiresAt = Date.now() + this.#humanWaitMs;
    return this.#replace(claimed, { ...claimed.record, status: "waiting", pending, state, expiresAt }, snapshot);
  }

  /** A claimed run has ended. */
  async finish(claimed: StoredRun, outcome: unknown): Promise<void> {
    await this.#replace(claimed, { ...claimed.record, status: "done", pending: [], state: null, outcome }, NOTHING);
  }

  /** A call has its answer that was under way when its run was paused. */
  async answer(run: string, callId: number, answer: LateAnswer): Promise<void> {
    await this.#change(run, (record) => {
      const pending = record.pending.map((call) => (call.callId === callId ? { ...call, answer } : call));
      return { ...record, pending };
    });
  }

  async runs(): Promise<readonly PausedRun[]> {
    const found: PausedRun[] = [];
    for await (const key of this.#store.list(PREFIX)) {
      // Made with another secret, by whoever shares the store: not ours to show.
      const stored = await this.find(key.slice(PREFIX.length)).catch(() => undefined);
      if (stored !== undefined && isWaiting(stored.record)) found.push(asPausedRun(stored));
    }
    return found;
  }

  async decide(runId: string, callId: number, decision: Parameters<Runs["decide"]>[2]): Promise<void> {
    const checked = checkDecision(decision);
    await this.#change(runId, (record) => {
      if (!record.pending.some((call) => call.callId === callId && call.waitsFor === "decision")) {
        const open = record.pending.filter(({ waitsFor }) => waitsFor === "decision").map((call) => call.callId);
        throw new ValidationError(
          `Run ${runId} has no call ${String(callId)} to decide about. Waiting: ${open.join(", ") || "none"}.`,
        );
      }
      const pending = record.pending.map((call) => (call.callId === callId ? { ...call, decision: checked } : call));
      return { ...record, pending };
    });
  }

  async cancel(runId: string): Promise<void> {
    await this.#change(runId, (record) => ({ ...record, status: "cancelled", pending: [], state: null }));
  }

  /** Changes a run that waits, whoever else changes it at the same time. */
  async #change(run: string, change: (record: RunRecord) => RunRecord): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.find(run);
      if (stored === undefined) throw noSuchRun();
      if (!isWaiting(stored.record)) throw notWaiting(run, stored.record);
      const record = change(stored.record);
      const snapshot = record.status === "waiting" ? stored.snapshot : NOTHING;
      if ((await this.#replace(stored, record, snapshot)) !== undefined) return;
    }
    throw new SandboxError("The run could not be changed: too many others change it at the same time. Try again.");
  }

  async #replace(stored: StoredRun, record: RunRecord, snapshot: Uint8Array): Promise<StoredRun | undefined> {
    try {
      return await this.#put({ run: stored.run, record, snapshot }, stored.revision);
    } catch (error) {
      if (StoreConflictError.isInstance(error)) return undefined;
      throw error;
    }
  }

  async #put(made: Pick<StoredRun, "run" | "record" | "snapshot">, expected: string): Promise<StoredRun> {
    const key = PREFIX + made.run;
    const sealed = this.#sealer.seal(PURPOSE, packRun(made.record, made.snapshot), key);
    const ttl = made.record.expiresAt - Date.now() + REMEMBERED_MS;
    const options = Number.isFinite(ttl) ? { expected, ttlMs: Math.max(ttl, REMEMBERED_MS) } : { expected };
    const revision = await this.#store.put(key, sealed, options);
    return { ...made, revision, bytes: sealed.length };
  }
}

/** The part for people and hosts: nothing else of it gets out. */
export function runsOf(pausedRuns: PausedRuns): Runs {
  return {
    runs: () => pausedRuns.runs(),
    decide: (run, callId, decision) => pausedRuns.decide(run, callId, decision),
    cancel: (run) => pausedRuns.cancel(run),
  };
}

/** True for a run that can still go on. */
export const isWaiting = ({ status, expiresAt }: RunRecord): boolean => status === "waiting" && Date.now() < expiresAt;

/** The same words whether it never existed, is forgotten or belongs to somebody else. */
export const noSuchRun = (): ValidationError =>
  new ValidationError(
    "There is no paused run of that id for this caller. Run ids are in the reply that paused a script.",
  );

function notWaiting(run: string, { status }: RunRecord): ValidationError {
  const why = { waiting: "has expired", running: "goes on already", done: "has ended", cancelled: "was cancelled" };
  return new ValidationError(`Run ${run} does not wait any more: it ${why[status]}.`);
}

function asPausedRun({ run, record, bytes }: StoredRun): PausedRun {
  const { server, callerId, createdAt, expiresAt, pending } = record;
  return {
    run,
    server,
    callerId,
    createdAt,
    expiresAt,
    bytes,
    pending: pending
      .filter(({ waitsFor }) => waitsFor === "decision")
      .map(({ callId, tool, server: of, arguments: args, reason, decision }) => {
        return { callId, tool, server: of, arguments: args, reason, decision: decision?.action };
      }),
  };
}

/** What a host gives is checked like what a policy gives: half a decision must not read as "yes". */
function checkDecision(decision: unknown): RunDecision {
  const { action, arguments: edited, reason } = (decision ?? {}) as Record<string, unknown>;
  if (action === "allow" && (edited === undefined || isObject(edited))) {
    return edited === undefined ? { action } : { action, arguments: edited };
  }
  if (action === "deny" && (reason === undefined || typeof reason === "string")) return { action, reason };
  throw new ValidationError('A decision is { action: "allow", arguments? } or { action: "deny", reason? }.');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
