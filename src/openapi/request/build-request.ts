import { ConfigurationError } from "../../errors.js";
import { VERSION } from "../../version.js";
import { ArgumentFault } from "./argument-fault.js";
import { encodeBody } from "./body.js";
import type { Placed } from "./credentials.js";
import type { RequestPlan } from "./request-plan.js";
import { pairsOf, simpleText } from "./styles.js";
import { fixedPair, type GivenParameter, requestUrl } from "./url.js";

/** A request, ready to be sent. */
export interface ApiRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * The request that a call stands for.
 *
 * @param placed credentials and fixed values: they win over everything
 * @throws {ArgumentFault} for arguments that cannot be sent.
 */
export function buildRequest(
  plan: RequestPlan,
  args: Readonly<Record<string, unknown>>,
  placed: readonly Placed[],
): ApiRequest {
  const rest = new Map(Object.entries(args).filter(([, value]) => value !== undefined));
  const given: GivenParameter[] = [];
  for (const parameter of plan.parameters) {
    const value = rest.get(parameter.argument);
    rest.delete(parameter.argument);
    if (value !== undefined && value !== null) given.push({ plan: parameter, value });
  }
  const body = plan.body === undefined ? undefined : encodeBody(plan.body, rest);
  const fixed = placed.filter(({ location }) => location === "query").map(({ name, value }) => fixedPair(name, value));
  const url = requestUrl(plan, given, fixed);
  const headers = new Headers({ accept: plan.accept, "user-agent": `mcp-codemode/${VERSION}` });
  if (body !== undefined) headers.set("content-type", body.contentType);
  addHeaders(headers, given);
  addCookies(headers, given, placed);
  for (const one of placed) if (one.location === "header") setFixed(headers, one);
  return { method: plan.method, url, headers, body: body?.bytes };
}

/** The error of `Headers` itself quotes the value. */
function setFixed(headers: Headers, { name, value }: Placed): void {
  try {
    headers.set(name, value);
  } catch {
    throw new ConfigurationError(
      `The configured value of the header ${name} cannot be sent: it is no line of Latin-1 text.`,
    );
  }
}

function addHeaders(headers: Headers, given: readonly GivenParameter[]): void {
  for (const { plan, value } of given) {
    if (plan.location !== "header") continue;
    const text = plan.asJson ? JSON.stringify(value) : simpleText(value, plan.encoding);
    if (!/^[\t\u0020-\u007E\u00A0-\u00FF]*$/.test(text)) {
      throw new ArgumentFault(
        `${plan.argument} is sent as a header: one line of Latin-1 text without control characters`,
      );
    }
    headers.set(plan.name, text);
  }
}

function addCookies(headers: Headers, given: readonly GivenParameter[], placed: readonly Placed[]): void {
  const own = given
    .filter(({ plan }) => plan.location === "cookie")
    .flatMap(({ plan, value }) => pairsOf(plan.name, plan.asJson ? JSON.stringify(value) : value, plan.encoding));
  const fixed = placed.filter(({ location }) => location === "cookie");
  const fixedNames = new Set(fixed.map(({ name }) => name));
  const cookies = [
    ...own.filter(({ name }) => !fixedNames.has(name)).map(({ name, value }) => `${encodeURIComponent(name)}=${value}`),
    ...fixed.map(({ name, value }) => `${name}=${value}`),
  ];
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
}
