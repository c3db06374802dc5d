import { ArgumentFault } from "./argument-fault.js";
import type { ParameterPlan, RequestPlan } from "./request-plan.js";
import { encoded, pairsOf, pathText, textOf, type Pair } from "./styles.js";

/** A parameter and the value that was given for it. */
export interface GivenParameter {
  plan: ParameterPlan;
  value: unknown;
}

/**
 * The URL of a request. Whatever the arguments are, it has the origin of the server, its base path and as many segments
 * as the template.
 *
 * @param fixed pairs of the query that win over all others of their names
 * @throws {ArgumentFault} for arguments that would lead elsewhere, or cannot be written.
 */
export function requestUrl(plan: RequestPlan, given: readonly GivenParameter[], fixed: readonly Pair[]): URL {
  const { server } = plan;
  const base = server.pathname.replace(/\/+$/, "");
  const path = base + filledPath(plan.path, given);
  const fixedNames = new Set(fixed.map(({ name }) => name));
  const pairs = [...queryPairs(given).filter(({ name }) => !fixedNames.has(name)), ...fixed];
  const query = [
    server.search.slice(1),
    plan.query,
    ...pairs.map(({ name, value }) => `${encoded(name, false)}=${value}`),
  ].filter((part) => part !== "");
  const url = new URL(server.origin + path + (query.length === 0 ? "" : `?${query.join("&")}`));
  const segments = (text: string): number => text.split("/").length;
  if (url.origin !== server.origin || !url.pathname.startsWith(base) || segments(url.pathname) !== segments(path)) {
    throw new ArgumentFault("the arguments lead to another path than that of the operation");
  }
  return url;
}

function filledPath(template: string, given: readonly GivenParameter[]): string {
  const values = new Map(given.filter(({ plan }) => plan.location === "path").map((one) => [one.plan.name, one]));
  const filled = template.replace(/\{([^{}/]+)\}/g, (_all, name: string) => {
    const one = values.get(name);
    if (one === undefined) throw new ArgumentFault(`${name} is missing (required)`);
    return pathValue(one);
  });
  // Several parameters may share one segment.
  if (filled.split("/").some(isDotSegment)) throw new ArgumentFault('a segment of the path would be "." or ".."');
  return filled;
}

function pathValue({ plan, value }: GivenParameter): string {
  const { name, argument, encoding, asJson } = plan;
  const text = asJson ? encoded(JSON.stringify(value), false) : pathText(name, value, encoding);
  if (text === "") throw new ArgumentFault(`${argument} must not be empty, since it is a part of the path`);
  // Servers and proxies that decode "%2F" early would walk up.
  const steps = decodeURIComponent(text).split(/[/\\]/);
  if (steps.some(isDotSegment)) throw new ArgumentFault(`${argument} must not hold the path segments "." or ".."`);
  if (/%0[0-9A-F]|%1[0-9A-F]|%7F/.test(text)) throw new ArgumentFault(`${argument} must not hold control characters`);
  return text;
}

const isDotSegment = (segment: string): boolean => /^(\.|%2e){1,2}$/i.test(segment);

function queryPairs(given: readonly GivenParameter[]): Pair[] {
  return given
    .filter(({ plan }) => plan.location === "query")
    .flatMap(({ plan, value }) => pairsOf(plan.name, plan.asJson ? JSON.stringify(value) : value, plan.encoding));
}

/** The pair of a fixed value. */
export const fixedPair = (name: string, value: string): Pair => ({ name, value: encoded(textOf(value), false) });
