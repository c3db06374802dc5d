import { NewTypeError, slice, toText } from "../../values/intrinsics.js";
import { defineClass } from "./define.js";
import { FRAGMENT_SET, percentEncode, untilAny, USERINFO_SET } from "./percent.js";
import { newParams, paramsText, resetParams, type Params } from "./search-params.js";
import {
  encodedQuery,
  hostText,
  isSpecial,
  parseUrl,
  pathText,
  portOf,
  schemeOf,
  setHostAndPort,
  setPath,
  type UrlParts,
  urlText,
  withoutBreaks,
} from "./url-parser.js";

function parse(url: unknown, base: unknown): UrlParts | undefined {
  const baseParts = base === undefined ? undefined : parseUrl(toText(base));
  return base !== undefined && baseParts === undefined ? undefined : parseUrl(toText(url), baseParts);
}

class Url {
  #parts: UrlParts;
  readonly #params: Params;

  constructor(url: unknown, base?: unknown) {
    const parts = parse(url, base);
    if (parts === undefined) throw new NewTypeError("Invalid URL: " + slice(toText(url), 0, 200));
    this.#parts = parts;
    this.#params = newParams(parts.query ?? "", () => {
      const query = paramsText(this.#params);
      this.#parts.query = query === "" ? undefined : query;
    });
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return parse(url, base) !== undefined;
  }

  static parse(url: unknown, base?: unknown): Url | null {
    return parse(url, base) === undefined ? null : new Url(url, base);
  }

  get href(): string {
    return urlText(this.#parts);
  }

  set href(value: string) {
    const parts = parse(value, undefined);
    if (parts === undefined) throw new NewTypeError("Invalid URL: " + slice(toText(value), 0, 200));
    this.#parts = parts;
    resetParams(this.#params, parts.query ?? "");
  }

  get origin(): string {
    const { scheme, host } = this.#parts;
    return isSpecial(scheme) && scheme !== "file" && host !== undefined
      ? scheme + "://" + hostText(this.#parts)
      : "null";
  }

  get protocol(): string {
    return this.#parts.scheme + ":";
  }

  set protocol(value: string) {
    const parts = this.#parts;
    const scheme = schemeOf(toText(value) + ":");
    const made = scheme === undefined ? undefined : parseUrl(scheme + "://host");
    if (made === undefined || isSpecial(made.scheme) !== isSpecial(parts.scheme)) return;
    parts.scheme = made.scheme;
    parts.port = portOf(parts.scheme, parts.port) ?? "";
  }

  get username(): string {
    return this.#parts.username;
  }

  set username(value: string) {
    if (this.#parts.host) this.#parts.username = percentEncode(toText(value), USERINFO_SET);
  }

  get password(): string {
    return this.#parts.password;
  }

  set password(value: string) {
    if (this.#parts.host) this.#parts.password = percentEncode(toText(value), USERINFO_SET);
  }

  get host(): string {
    return hostText(this.#parts);
  }

  set host(value: string) {
    const parts = this.#parts;
    const text = untilAny(withoutBreaks(toText(value)), 0, "/\\?#");
    const { port } = parts;
    if (typeof parts.path !== "string" && setHostAndPort(parts, text) && parts.port === "") parts.port = port;
  }

  get hostname(): string {
    return this.#parts.host ?? "";
  }

  set hostname(value: string) {
    const parts = this.#parts;
    const text = untilAny(withoutBreaks(toText(value)), 0, toText(value)[0] === "[" ? "/\\?#" : ":/\\?#");
    const { port } = parts;
    if (typeof parts.path !== "string" && setHostAndPort(parts, text)) parts.port = port;
  }

  get port(): string {
    return this.#parts.port;
  }

  set port(value: string) {
    const digits = untilAny(toText(value), 0, "/\\?#");
    const port = portOf(this.#parts.scheme, digits);
    if (port !== undefined && this.#parts.host && this.#parts.scheme !== "file") this.#parts.port = port;
  }

  get pathname(): string {
    return pathText(this.#parts);
  }

  set pathname(value: string) {
    const parts = this.#parts;
    if (typeof parts.path === "string") return;
    parts.path = [];
    setPath(parts, percentEncode(withoutBreaks(toText(value)), "?#"));
  }

  get search(): string {
    const { query } = this.#parts;
    return query === undefined || query === "" ? "" : "?" + query;
  }

  set search(value: string) {
    const text = withoutBreaks(toText(value));
    const query = text[0] === "?" ? slice(text, 1) : text;
    this.#parts.query = text === "" ? undefined : encodedQuery(this.#parts.scheme, query);
    resetParams(this.#params, query);
  }

  get searchParams(): Params {
    return this.#params;
  }

  get hash(): string {
    const { fragment } = this.#parts;
    return fragment === undefined || fragment === "" ? "" : "#" + fragment;
  }

  set hash(value: string) {
    const text = withoutBreaks(toText(value));
    const fragment = text[0] === "#" ? slice(text, 1) : text;
    this.#parts.fragment = text === "" ? undefined : percentEncode(fragment, FRAGMENT_SET);
  }

  toString(): string {
    return urlText(this.#parts);
  }

  toJSON(): string {
    return urlText(this.#parts);
  }
}

/** `URL`, by the WHATWG rules but for the mapping tables of international domain names. */
export function installUrl(): void {
  defineClass("URL", Url);
}
