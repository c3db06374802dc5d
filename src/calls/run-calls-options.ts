import type { CatalogView } from "../catalog/catalog.js";
import type { CallContext, Tool } from "../catalog/tool.js";
import type { Observation } from "../telemetry/telemetry.js";
import type { ArgumentPlans } from "./arguments.js";
import type { SpentBudget } from "./budget.js";
import type { CallRecord } from "./call-record.js";
import type { KeptContent } from "./content-handles.js";
import type { LimitValues } from "./limits.js";
import type { CallPolicy } from "./policy.js";
import type { CallQuestion, PersonDecision } from "./questions.js";

/** What the calls of one run need. */
export interface RunCallsOptions {
  catalog: CatalogView;
  limits: LimitValues;
  plans: ArgumentPlans;
  policy?: CallPolicy | undefined;
  /** Whose calls these are. */
  context: CallContext;
  /** Names that exist only outside scripts. */
  metaToolNames: ReadonlySet<string>;
  /** Who watches the run, if anybody does. */
  observation?: Observation<"execute"> | undefined;
  /** Gets what a tool gave, once for each successful call: structured content or text. Not media. */
  onResult?: ((tool: Tool, value: unknown) => void) | undefined;
  /** After each call, however it ended. */
  onAnswered?: (() => void) | undefined;
  /**
   * How a person is asked when the policy wants it: by pausing the script (`waiting` of RunCalls), or at once. Absent:
   * nobody can be asked, and the call is denied.
   */
  asks?: "pause" | ((question: CallQuestion) => Promise<PersonDecision>) | undefined;
  /** Rejects for a tool that this script may not call yet. */
  mayCall?: ((tool: string) => Promise<void>) | undefined;
  /** When it fires, the script is paused for the calls that are under way: `waiting` of RunCalls. */
  pause?: AbortSignal | undefined;
  /** What the calls of the run were before it was paused, in another request or process. */
  before?: CallsState | undefined;
}

/** The calls of a run so far, as plain data. */
export interface CallsState {
  records: readonly CallRecord[];
  spent: SpentBudget;
  content?: KeptContent | undefined;
  textTools: readonly string[];
}
