import { VERSION } from "../version.js";

/** The part of `@opentelemetry/api` 1.x that is used. Structural: the package is optional, its types too. */
export interface OpenTelemetry {
  trace: {
    getTracer(name: string, version?: string): Tracer;
    setSpan(context: SpanContext, span: Span): SpanContext;
  };
  context: {
    active(): SpanContext;
    with<T>(context: SpanContext, run: () => T): T;
  };
}

/** A context of OpenTelemetry: opaque here. */
export type SpanContext = object;

interface Tracer {
  startSpan(name: string, options: { attributes?: Attributes }, context: SpanContext): Span;
}

interface Span {
  isRecording(): boolean;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(): void;
}

/** Facts on a span. */
export type Attributes = Record<string, string | number | boolean>;

/** `SpanStatusCode.ERROR`. */
const ERROR_STATUS = 2;

/** A span under way. */
export interface OpenSpan {
  /** What children name as their parent. */
  readonly context: SpanContext;
  /** Runs something during which this span is the active one, for instrumented code of the host. */
  within<T>(run: () => T): T;
  end(attributes: Attributes, failed: boolean): void;
}

/** Starts spans; undefined where nobody records them. */
export type StartSpan = (name: string, parent: SpanContext | undefined) => OpenSpan | undefined;

/**
 * Spans of the OpenTelemetry API that the host has, if it has one. It is looked for once per process.
 *
 * @param load Imports the API.
 */
export async function openTelemetrySpans(load: () => Promise<unknown> = importApi): Promise<StartSpan | undefined> {
  try {
    const api = (await load()) as Partial<OpenTelemetry> | undefined;
    return api?.trace === undefined || api.context === undefined ? undefined : spansOf(api as OpenTelemetry);
  } catch {
    // Not installed: the host wants no spans.
    return undefined;
  }
}

let imported: Promise<unknown> | undefined;

/**
 * Bundlers must not stop over a package that is not there: esbuild takes the `catch` for an optional import, and webpack
 * leaves the import to the run time.
 */
function importApi(): Promise<unknown> {
  return (imported ??= import(/* webpackIgnore: true */ "@opentelemetry/api").catch(() => undefined));
}

function spansOf(api: OpenTelemetry): StartSpan {
  // Of the API's proxy: a provider that is registered later is used from then on.
  const tracer = api.trace.getTracer("mcp-codemode", VERSION);
  return (name, parent) => {
    const around = parent ?? api.context.active();
    const span = tracer.startSpan(`mcp-codemode.${name}`, {}, around);
    if (!span.isRecording()) return undefined;
    const context = api.trace.setSpan(around, span);
    return {
      context,
      within: (run) => api.context.with(context, run),
      end(attributes, failed) {
        span.setAttributes(attributes);
        // Without a message: it would be text of a tool or a script.
        if (failed) span.setStatus({ code: ERROR_STATUS });
        span.end();
      },
    };
  };
}
