import type { CallContext, CallToolResult } from "../catalog/tool.js";
import type { EventOf } from "../telemetry/events.js";
import { failureOf, type EndFacts } from "../telemetry/telemetry.js";
import type { MetaToolSettings } from "./meta-tool.js";
import { RUN_MARK, type RunMark } from "./run-mark.js";

/** What a meta-tool counts while it answers. */
export type Counts<T extends "search" | "schema"> = Pick<
  EventOf<T>,
  Extract<keyof EventOf<T>, "results" | "tools" | "names">
>;

interface Observing {
  settings: Pick<MetaToolSettings, "telemetry">;
  callerIdOf?(context: CallContext): string | undefined;
}

/**
 * Answers a call of a meta-tool that runs no script, and tells who watches.
 *
 * @param counts Read when the answer is there: `answer` may write to it.
 * @throws What `answer` throws.
 */
export async function observed<T extends "search" | "schema">(
  engine: Observing,
  type: T,
  context: Partial<CallContext>,
  counts: Counts<T>,
  answer: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const { telemetry } = engine.settings;
  if (telemetry.ready !== undefined) await telemetry.ready;
  const observation = telemetry.observe(type);
  if (observation === undefined) return answer();
  const end = (how: object, resultBytes: number): void => {
    const callerId = engine.callerIdOf?.(context as CallContext) ?? context.callerId;
    observation.end({ ...counts, ...how, resultBytes, callerId } as unknown as EndFacts<T>);
  };
  try {
    const result = await observation.within(answer);
    end(howItEnded(result), textBytes(result));
    return result;
  } catch (error) {
    end(failureOf(error), 0);
    throw error;
  }
}

function howItEnded({ isError, _meta }: CallToolResult): object {
  if (isError !== true) return { outcome: "ok" };
  const kind = (_meta?.[RUN_MARK] as RunMark | undefined)?.kind ?? "tool";
  return { outcome: "error", kind };
}

const textBytes = ({ content }: CallToolResult): number =>
  content.reduce((sum, block) => sum + (block.type === "text" ? Buffer.byteLength(block.text) : 0), 0);
