import { randomUUID } from "node:crypto";
import { CodeModeError } from "../errors.js";
import { guarded, type EventFacts, type EventListener, type EventOf, type EventType } from "./events.js";
import { openTelemetrySpans, type Attributes, type OpenSpan, type StartSpan } from "./spans.js";

/** What the end of an observation has to say. */
export type EndFacts<T extends EventType> = Omit<EventOf<T>, "type" | "durationMs" | "run">;

/** Something under way that somebody watches. */
export interface Observation<T extends EventType> {
  /** Names the run. */
  readonly run: string;
  /** Something inside of it. */
  child<C extends EventType>(type: C): Observation<C> | undefined;
  /** Runs something as a part of it, for instrumented code of the host. */
  within<R>(part: () => R): R;
  /** Tells of it. Call it once. */
  end(facts: EndFacts<T>): void;
}

/** Where an engine's events and spans go. Without listeners it costs a comparison. */
export class Telemetry {
  /** Resolves when it is known whether anybody records spans. Undefined once that is known. */
  ready: Promise<void> | undefined;
  readonly #onEvent: EventListener | undefined;
  #startSpan: StartSpan | undefined;

  /**
   * @param onEvent Gets every event.
   * @param load Imports the OpenTelemetry API.
   */
  constructor(onEvent?: EventListener, load?: () => Promise<unknown>) {
    this.#onEvent = onEvent === undefined ? undefined : guarded(onEvent);
    this.ready = openTelemetrySpans(load).then((startSpan) => {
      this.#startSpan = startSpan;
      this.ready = undefined;
    });
  }

  /** Undefined when nobody watches: then there is nothing to measure either. */
  observe<T extends EventType>(type: T): Observation<T> | undefined {
    return this.#begin(type, undefined, undefined);
  }

  #begin<T extends EventType>(
    type: T,
    parent: OpenSpan | undefined,
    run: string | undefined,
  ): Observation<T> | undefined {
    const span = this.#startSpan?.(type, parent?.context);
    const onEvent = this.#onEvent;
    if (span === undefined && onEvent === undefined) return undefined;
    const start = performance.now();
    const id = run ?? randomUUID();
    return {
      run: id,
      child: (childType) => this.#begin(childType, span ?? parent, id),
      within: (part) => (span === undefined ? part() : span.within(part)),
      end(facts) {
        const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
        span?.end(attributesOf(facts), facts.outcome === "error");
        const own = type === "execute" || type === "call" ? { type, run: id } : { type };
        onEvent?.({ ...own, ...facts, durationMs } as unknown as EventOf<T>);
      },
    };
  }
}

/** Names that dashboards know, where there are any. */
const KNOWN_ATTRIBUTES = new Map([
  ["tool", "gen_ai.tool.name"],
  ["kind", "error.type"],
]);

/** Events hold nothing but facts, and so do spans. The caller stays away: spans often go to others. */
function attributesOf(facts: object): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (name === "callerId") continue;
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") continue;
    attributes[KNOWN_ATTRIBUTES.get(name) ?? `mcp_codemode.${snakeCase(name)}`] = value;
  }
  return attributes;
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** How something that threw ended. */
export function failureOf(error: unknown): Pick<EventFacts, "outcome" | "kind"> {
  return { outcome: "error", kind: CodeModeError.isInstance(error) ? error.kind : "tool" };
}
