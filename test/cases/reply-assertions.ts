import { asJson, asList, asStrings, type Json, knownKeys, Todo } from "./case.js";
import { includesPart, matches, sameJson, shown } from "./compare.js";
import type { Reply } from "./reply.js";

/** Which run of the case a reply belongs to. */
export interface RunPlace {
  /** For `...PerVariant`. */
  index: number;
  /** For `perRunKind`. */
  label: string | undefined;
}

/** Says what is wrong, or nothing. */
type Assertion = (reply: Reply, wanted: unknown, place: RunPlace) => string | undefined;

/** Keys of `assert` and `expect` that look at one reply of execute. */
const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  value: expectValue,
  valuePerVariant: (reply, wanted, { index }) => expectValue(reply, asList(wanted, "valuePerVariant")[index]),
  valueAnyOf: (reply, wanted) =>
    asList(wanted, "valueAnyOf").some((value) => isValue(reply, value)) ? undefined : unlike("one of", wanted, reply),
  valueIncludes: (reply, wanted) =>
    !reply.isError && includesPart(reply.value, wanted) ? undefined : unlike("a value with", wanted, reply),
  valueAtIncludes: (reply, wanted) => {
    const value = (reply.value ?? {}) as Record<string, unknown>;
    const holds = Object.entries(asJson(wanted, "valueAtIncludes")).every(([key, part]) =>
      includesPart(value[key], part),
    );
    return !reply.isError && holds ? undefined : unlike("a value with", wanted, reply);
  },
  valueExcludes: (reply, wanted) => {
    const text = JSON.stringify(reply.value) ?? "";
    const found = asStrings(wanted, "valueExcludes").filter((part) => text.includes(part));
    if (reply.isError) return unlike("a value without", wanted, reply);
    return found.length === 0 ? undefined : `the value contains ${shown(found)}`;
  },
  valueMatches: (reply, wanted) =>
    !reply.isError && reply.valueText !== undefined && matches(reply.valueText, wanted)
      ? undefined
      : unlike("a value like", wanted, reply),
  valueLength: (reply, wanted) =>
    !reply.isError && reply.valueText?.length === wanted ? undefined : unlike("a text of length", wanted, reply),
  valueAbsent: (reply, wanted) => {
    if (wanted !== true) throw new Todo("valueAbsent: unknown value");
    return !reply.isError && reply.valueText === undefined ? undefined : unlike("no value", undefined, reply);
  },
  valueOrError: (reply, wanted) => {
    const { value, kind } = asJson(wanted, "valueOrError");
    return isValue(reply, value) || (reply.isError && reply.kind === kind)
      ? undefined
      : unlike("either of", wanted, reply);
  },
  error: (reply, wanted, place) => expectError(reply, asJson(wanted, "error"), place),
  perRunKind: (reply, _wanted, { label }) =>
    reply.isError && reply.kind === label ? undefined : unlike("an error of kind", label, reply),
  noteMatches: (reply, wanted) =>
    matches(reply.notes, wanted) ? undefined : `no note matches ${shown(wanted)}: ${shown(reply.notes)}`,
  logsContain: (reply, wanted) => {
    const missing = asStrings(wanted, "logsContain").filter((part) => !reply.logs.includes(part));
    return missing.length === 0 ? undefined : `the log lacks ${shown(missing)}: ${shown(reply.logs)}`;
  },
  logsExclude: (reply, wanted) => {
    const found = asStrings(wanted, "logsExclude").filter((part) => reply.logs.includes(part));
    return found.length === 0 ? undefined : `the log contains ${shown(found)}`;
  },
  callRecord: (reply, wanted) => {
    const record = reply.calls.map(({ tool, ok }) => ({ tool, ok }));
    return sameJson(record, wanted) ? undefined : `the calls should be ${shown(wanted)}, are ${shown(record)}`;
  },
  outer: (reply, wanted) => expectOuter(reply, asJson(wanted, "outer")),
  // Of steps that call a meta-tool.
  noCrash: (reply) => (reply.thrown === undefined ? undefined : `the request failed: ${reply.thrown.message}`),
  noError: (reply) => (reply.isError ? `an error came: ${reply.summary}` : undefined),
};

/** The keys that this module understands. */
export const REPLY_KEYS: readonly string[] = Object.keys(ASSERTIONS);

/** What is wrong with a reply: one reason for each key that does not hold. Other keys are left to others. */
export function replyFaults(reply: Reply, wanted: Json, place: RunPlace): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => ASSERTIONS[key]?.(reply, value, place) ?? []);
}

const unlike = (what: string, wanted: unknown, reply: Reply): string =>
  `expected ${what} ${shown(wanted)}, got ${reply.summary || "nothing"}`;

/** A text is carried as it is, everything else as JSON. */
function isValue(reply: Reply, wanted: unknown): boolean {
  if (reply.isError) return false;
  return typeof wanted === "string" ? reply.valueText === wanted : sameJson(reply.value, wanted);
}

function expectValue(reply: Reply, wanted: unknown): string | undefined {
  return isValue(reply, wanted) ? undefined : unlike("the value", wanted, reply);
}

type ErrorAssertion = (reply: Reply, wanted: unknown, place: RunPlace) => boolean;

const ERROR_ASSERTIONS: Readonly<Record<string, ErrorAssertion>> = {
  kind: (reply, wanted) => reply.kind === wanted,
  kindAnyOf: (reply, wanted) => asList(wanted, "kindAnyOf").includes(reply.kind),
  kindPerVariant: (reply, wanted, { index }) => asList(wanted, "kindPerVariant")[index] === reply.kind,
  messageMatches: (reply, wanted) => matches(reply.message, wanted),
  messageMatchesPerVariant: (reply, wanted, { index }) =>
    matches(reply.message, asList(wanted, "messageMatchesPerVariant")[index]),
  messageExcludes: (reply, wanted) =>
    asStrings(wanted, "messageExcludes").every((part) => !reply.message.includes(part)),
  lineAnyOf: (reply, wanted) => asList(wanted, "lineAnyOf").includes(reply.line),
  maxOccurrences: (reply, wanted) =>
    Object.entries(asJson(wanted, "maxOccurrences")).every(
      ([part, most]) => reply.text.split(part).length - 1 <= Number(most),
    ),
};

function expectError(reply: Reply, wanted: Json, place: RunPlace): string | undefined {
  knownKeys(wanted, Object.keys(ERROR_ASSERTIONS), "error");
  if (!reply.isError) return unlike("an error", wanted, reply);
  const faults = Object.entries(wanted).filter(
    ([key, value]) => ERROR_ASSERTIONS[key]?.(reply, value, place) === false,
  );
  if (faults.length === 0) return undefined;
  const line = "lineAnyOf" in wanted ? ` (line ${reply.line ?? "unknown"})` : "";
  return unlike("an error with", Object.fromEntries(faults), reply) + line;
}

type OuterAssertion = (reply: Reply, wanted: unknown) => boolean;

const OUTER_ASSERTIONS: Readonly<Record<string, OuterAssertion>> = {
  contentTypes: (reply, wanted) =>
    containedInOrder(
      reply.blocks.map(({ type }) => type),
      asList(wanted, "contentTypes"),
    ),
  textContains: (reply, wanted) => asStrings(wanted, "textContains").every((part) => reply.text.includes(part)),
  textExcludes: (reply, wanted) => asStrings(wanted, "textExcludes").every((part) => !reply.text.includes(part)),
  mentions: (reply, wanted) => asStrings(wanted, "mentions").every((part) => reply.everything.includes(part)),
  maxChars: (reply, wanted) => reply.text.length <= Number(wanted),
  isError: (reply, wanted) => reply.isError === wanted,
  jsonParses: (reply, wanted) => isJsonText(reply.valueText) === wanted,
  clientThrows: (reply, wanted) => (reply.thrown !== undefined) === wanted,
};

function expectOuter(reply: Reply, wanted: Json): string | undefined {
  knownKeys(wanted, Object.keys(OUTER_ASSERTIONS), "outer");
  const faults = Object.entries(wanted).filter(([key, value]) => OUTER_ASSERTIONS[key]?.(reply, value) === false);
  return faults.length === 0 ? undefined : unlike("a reply with", Object.fromEntries(faults), reply);
}

function containedInOrder(types: readonly unknown[], wanted: readonly unknown[]): boolean {
  let next = 0;
  for (const type of types) if (type === wanted[next]) next++;
  return next === wanted.length;
}

function isJsonText(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
