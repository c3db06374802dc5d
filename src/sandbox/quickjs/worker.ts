/**
 * The thread of the sandbox: takes a run, runs it, reports, forgets it. No event loop: it blocks on its channel.
 */
import { workerData } from "node:worker_threads";
import type { CompiledEngine } from "./engine.js";
import { Instance } from "./instance.js";
import { KIND, type RunReport, type RunRequest } from "./protocol.js";
import { ScriptRun } from "./run.js";
import { AS_BYTES, type Frame } from "./channel/ring.js";
import { WorkerChannel, type WorkerEnd } from "./channel/worker-channel.js";

/** What the host gives a new worker. */
export interface WorkerSetup {
  end: WorkerEnd;
  engine: CompiledEngine;
  /** The instance to have ready before the first run. */
  memoryBytes: number;
  /** Largest stack a script may ask for, given the stack of this thread. */
  maxStackBytes: number;
}

/** An instance that grew past this is dropped after its run: memory of WebAssembly never shrinks, and a reset touches all of it. */
const KEEP_BELOW_BYTES = 32 << 20;

const setup = workerData as WorkerSetup;
const channel = new WorkerChannel(setup.end);

let instance = await newInstance(setup.memoryBytes);
channel.ready();
let snapshot: Uint8Array | undefined;
for (;;) {
  const frame = channel.receiveWhenIdle();
  if (frame === undefined) continue;
  const { kind, run } = frame;
  if (kind === KIND.SNAPSHOT) snapshot = frame.bytes.slice(frame.at, frame.at + frame.length);
  const text = Buffer.from(frame.bytes.buffer, frame.bytes.byteOffset + frame.at, frame.length).toString();
  channel.release(frame);
  // Anything else is late: an answer to a call of a run that is over.
  if (kind !== KIND.RUN) continue;
  await serve(JSON.parse(text) as RunRequest, run);
}

async function serve(request: RunRequest, run: number): Promise<void> {
  if (request.memoryBytes !== instance.memoryBytes) instance = await newInstance(request.memoryBytes);
  const script = new ScriptRun(instance, request, {
    send: (kind, id, bytes, at, length) => channel.send(kind, id, run, bytes, at, length),
    cancelled: () => channel.aborted === run,
    computing: (active, cpuMs) => channel.computing(active, cpuMs),
  });
  const from = snapshot;
  snapshot = undefined;
  if (request.from === "resume" && from !== undefined) script.resume(from, request.openCalls);
  else script.start(request.from === "session" ? from : undefined);
  while (!script.over) {
    channel.ping();
    answer(script, run);
    script.tick();
  }
  if (request.keepSnapshot && !script.report().suspended) sendSnapshot(script.finalSnapshot(), run);
  report(script.report(), run);
  // After the report, so that nobody waits for it.
  if (instance.broken || instance.memorySize > KEEP_BELOW_BYTES) instance = await newInstance(request.memoryBytes);
  else instance.reset();
}

/** Waits for an answer or for the time of the next timer, and hands over every answer that is there. */
function answer(script: ScriptRun, run: number): void {
  for (
    let frame = channel.receive(script.waitMs());
    frame !== undefined;
    frame = script.over ? undefined : channel.receive(0)
  ) {
    if (frame.run === run) take(script, frame);
    channel.release(frame);
  }
}

function take(script: ScriptRun, { kind, id, run, bytes, at, length }: Frame): void {
  if (kind === KIND.REPLY) script.settle(id, bytes, at, length);
  if (kind !== KIND.SUSPEND) return;
  const openCalls = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString()) as number[];
  sendSnapshot(script.suspend(openCalls), run);
}

function sendSnapshot(bytes: Uint8Array | undefined, run: number): void {
  if (bytes !== undefined) channel.send(KIND.SNAPSHOT | AS_BYTES, 0, run, bytes, 0, bytes.length);
}

function report(report: RunReport, run: number): void {
  const bytes = Buffer.from(JSON.stringify(report));
  channel.send(KIND.REPORT, 0, run, bytes, 0, bytes.length);
  channel.ping();
}

function newInstance(memoryBytes: number): Promise<Instance> {
  const { engine, maxStackBytes } = setup;
  return Instance.create({ engine, memoryBytes, maxStackBytes });
}
