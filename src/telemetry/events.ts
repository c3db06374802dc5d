import type { ErrorKind } from "../errors.js";

/** What every event tells. */
export interface EventFacts {
  /** "suspended": the run waits for somebody and goes on later. */
  outcome: "ok" | "error" | "suspended";
  /** Present when the outcome is "error". */
  kind?: ErrorKind | undefined;
  durationMs: number;
  /** Who asked, as the policy knows them. Not on spans. */
  callerId?: string | undefined;
}

/** A search for tools has been answered. */
export interface SearchEvent extends EventFacts {
  type: "search";
  /** Tools in the reply. */
  results: number;
  /** Tools that were looked through. */
  tools: number;
  /** The reply, in bytes of UTF-8. */
  resultBytes: number;
}

/** A request for the schemas of tools has been answered. */
export interface SchemaEvent extends EventFacts {
  type: "schema";
  /** Names that were asked for. */
  names: number;
  resultBytes: number;
}

/** A script has ended, or waits. */
export interface ExecuteEvent extends EventFacts {
  type: "execute";
  /** Names this run, in its calls' events too. New with every execute. */
  run: string;
  codeBytes: number;
  /** The value as JSON, in bytes; 0 when there is none. */
  resultBytes: number;
  /** Console output. */
  logBytes: number;
  calls: number;
  failedCalls: number;
  /** True when the value was made smaller to fit. */
  truncated: boolean;
  /** True when the caller asked to begin a session anew. */
  restart?: boolean | undefined;
}

/** A call of a script has been answered. */
export interface CallEvent extends EventFacts {
  type: "call";
  run: string;
  /** Absent when there is no such tool: what the script asked for is the script's own text. */
  tool?: string | undefined;
  server?: string | undefined;
  /** What the tool says of itself (`readOnlyHint`). */
  readOnly: boolean;
  argumentBytes: number;
  resultBytes: number;
}

/**
 * What happened, for a host's own log: the option `onEvent` gets one when it is over. Names, counts, sizes and times; never
 * arguments, results, code, queries, descriptions or the text of errors.
 *
 * @example
 * codeMode({
 *   onEvent(event) {
 *     if (event.type === "call" && event.outcome === "error") console.error(event.tool, event.kind, event.durationMs);
 *   },
 * });
 */
export type CodeModeEvent = SearchEvent | SchemaEvent | ExecuteEvent | CallEvent;

/** The kinds of events. */
export type EventType = CodeModeEvent["type"];

/** The event of a type. */
export type EventOf<T extends EventType> = Extract<CodeModeEvent, { type: T }>;

/** Gets every event. What it throws, or a promise of it rejects with, changes nothing. */
export type EventListener = (event: CodeModeEvent) => void;

/** A listener that cannot fail its caller. The first failure is told once, as a warning of the process. */
export function guarded(listener: EventListener): EventListener {
  let hasWarned = false;
  const warn = (): void => {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning("onEvent of codeMode() failed; further failures are not reported.", {
      type: "McpCodemodeWarning",
      code: "MCP_CODEMODE_ON_EVENT",
    });
  };
  return (event) => {
    try {
      const returned: unknown = listener(event);
      if (returned instanceof Promise) returned.catch(warn);
    } catch {
      warn();
    }
  };
}
