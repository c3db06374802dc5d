import { asJson, asList, asStrings, type Json, knownKeys } from "./case.js";
import { includesPart, sameJson, shown } from "./compare.js";
import type { RecordedRequest } from "./openapi-server.js";

/** What was found instead, or undefined when it holds. `last` is the request that single keys are about. */
type Assertion = (last: RecordedRequest, wanted: unknown, all: readonly RecordedRequest[]) => unknown;

const unless = (holds: boolean, found: unknown): unknown => (holds ? undefined : (found ?? null));
const same = (found: unknown, wanted: unknown): unknown => unless(sameJson(found, wanted), found);

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  method: ({ method }, wanted) => same(method, wanted),
  path: ({ path }, wanted) => same(path, wanted),
  paths: (_last, wanted, all) =>
    same(
      all.map(({ path }) => path),
      wanted,
    ),
  segments: ({ path }, wanted) => same(path.split("/").length - 1, wanted),
  query: ({ query }, wanted) => {
    const holds = Object.entries(asJson(wanted, "query")).every(([name, values]) => sameJson(query.get(name), values));
    return unless(holds, Object.fromEntries(query));
  },
  queryExcludes: ({ query }, wanted) => {
    const found = asStrings(wanted, "queryExcludes").filter((name) => query.has(name));
    return unless(found.length === 0, found);
  },
  headers: ({ headers }, wanted) => {
    const holds = Object.entries(asJson(wanted, "headers")).every(([name, value]) =>
      sameJson(headers[name.toLowerCase()], value),
    );
    return unless(holds, headers);
  },
  body: ({ body }, wanted) => same(jsonOf(body), wanted),
  bodyIncludes: ({ body }, wanted) => unless(includesPart(jsonOf(body), wanted), jsonOf(body)),
  bodyIncludesText: ({ body }, wanted) => {
    const missing = asStrings(wanted, "bodyIncludesText").filter((part) => !body.toString("utf8").includes(part));
    return unless(missing.length === 0, body.toString("utf8"));
  },
  bodyHex: (_last, wanted, all) =>
    same(
      all.map(({ body }) => body.toString("hex")),
      asList(wanted, "bodyHex"),
    ),
  contentTypes: (_last, wanted, all) =>
    same(
      all.map(({ headers }) => (headers["content-type"] ?? "").split(";")[0]),
      asList(wanted, "contentTypes"),
    ),
};

/** What is wrong with the requests that an API got. @throws {Todo} for a key that is not known. */
export function httpFaults(requests: readonly RecordedRequest[], wanted: Json): string[] {
  knownKeys(wanted, Object.keys(ASSERTIONS), "http");
  const last = requests.at(-1);
  if (last === undefined) return ["no request was sent"];
  return Object.entries(wanted).flatMap(([key, value]) => {
    const found = ASSERTIONS[key]?.(last, value, requests);
    return found === undefined ? [] : [`http.${key} should be ${shown(value)}, is ${shown(found)}`];
  });
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return `no JSON: ${body.toString("utf8")}`;
  }
}
