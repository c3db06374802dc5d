import type { CallPolicy, PolicyDecision } from "./policy.js";

const ALLOW: PolicyDecision = { action: "allow" };
const deny = (reason: string): PolicyDecision => ({ action: "deny", reason });

/** Which tools {@link policies.byName} or {@link policies.byTags} let through. */
export interface AllowDeny {
  /** Only these; absent: all that are not denied. */
  allow?: readonly string[];
  /** Never these, whatever `allow` says. */
  deny?: readonly string[];
}

/**
 * Ready policies. Annotations are what a tool says of itself: they are as good as the server that made them.
 *
 * @example
 * codeMode({ policy: policies.readOnly });
 */
export const policies: {
  /** Only tools annotated `readOnlyHint: true`. */
  readonly readOnly: CallPolicy;
  /** Everything but tools annotated `destructiveHint: true`. A tool that says nothing passes. */
  readonly denyDestructive: CallPolicy;
  /** By exact tool name. */
  byName(rules: AllowDeny): CallPolicy;
  /** By tag: denied when one of its tags is, allowed when one of its tags is. */
  byTags(rules: AllowDeny): CallPolicy;
} = {
  readOnly: function readOnly({ annotations }) {
    return annotations?.["readOnlyHint"] === true ? ALLOW : deny("only tools that change nothing are allowed");
  },
  denyDestructive: function denyDestructive({ annotations }) {
    return annotations?.["destructiveHint"] === true ? deny("destructive tools are not allowed") : ALLOW;
  },
  byName(rules) {
    const decide = decider(rules, "this tool is not allowed");
    return function byName({ name }) {
      return decide([name]);
    };
  },
  byTags(rules) {
    const decide = decider(rules, "tools with these tags are not allowed");
    return function byTags({ tags }) {
      return decide(tags);
    };
  },
};

function decider(rules: AllowDeny, reason: string): (labels: readonly string[]) => PolicyDecision {
  const allowed = rules.allow && new Set(rules.allow);
  const denied = new Set(rules.deny);
  return (labels) => {
    if (labels.some((label) => denied.has(label))) return deny(reason);
    return allowed === undefined || labels.some((label) => allowed.has(label)) ? ALLOW : deny(reason);
  };
}
