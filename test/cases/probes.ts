import { asJson, asStrings, type Json, knownKeys, Todo } from "./case.js";
import { docFaults } from "./probe-docs.js";
import { exitMs } from "./probe-exit.js";
import { bundleFault, packFault } from "./probe-package.js";
import type { World } from "./world.js";

/** What the probes found. Absent: not probed. */
export interface ProbeFacts {
  /** Milliseconds from the end of close to the end of the process. */
  exitMs?: number;
  /** Examples of documents and descriptions that do not run as written. */
  docFaults?: readonly string[];
  packFault?: string | undefined;
  bundleFault?: string | undefined;
}

const KEYS = [
  "childProcess",
  "closeThenExitWithinMs",
  "heartbeatMs",
  "secondExecute",
  "runDocExamples",
  "packAndInstall",
  "bundle",
];

/** @throws {Todo} for a probe that is not known. */
export function checkProbe(probe: Json): void {
  knownKeys(probe, KEYS, "probe");
  if ((probe["childProcess"] === true) !== (probe["closeThenExitWithinMs"] !== undefined)) {
    throw new Todo("probe: childProcess and closeThenExitWithinMs belong together");
  }
}

/** Runs the probes that are about the process or the package, once for each case. */
export async function runProbes(probe: Json, input: Json, world: () => World): Promise<ProbeFacts> {
  const facts: ProbeFacts = {};
  if (probe["childProcess"] === true) {
    facts.exitMs = await exitMs(String(input["script"]), asJson(input["config"] ?? {}, "config"));
  }
  if (probe["runDocExamples"] !== undefined) {
    facts.docFaults = await docFaults(asStrings(probe["runDocExamples"], "runDocExamples"), world);
  }
  if (probe["packAndInstall"] !== undefined) facts.packFault = await packFault();
  if (probe["bundle"] !== undefined) facts.bundleFault = await bundleFault();
  return facts;
}
