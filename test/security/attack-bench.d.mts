import type { HostFunction, SandboxResult, SandboxRunOptions } from "../../src/sandbox/provider.js";

/** One line of attacks.jsonl. */
export interface Attack {
  id: string;
  class: string;
  code: string;
  /** Kinds of failures, or "completed". */
  kinds: string[];
  /** The value of one that completes. */
  value?: unknown;
  overflow?: "truncate";
}

export declare const TIMEOUT_MS: number;
export declare const KNOWN_KINDS: ReadonlySet<string>;
export declare const PROBE: string;
export declare function loadAttacks(): Attack[];
export declare function attackFunctions(refused: () => Error): Record<string, HostFunction>;
export declare function attackOptions(
  attack: Attack,
  externalFunctions: Record<string, HostFunction>,
): SandboxRunOptions;
export declare function kindOf(result: SandboxResult): string;
export declare function misfit(attack: Attack, result: SandboxResult): string | undefined;
export declare function hostPrototypes(): string;
