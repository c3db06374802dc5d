import { charCodeAt, includes, indexOf, lastIndexOf, slice, toLowerCase } from "../../values/intrinsics.js";
import { append } from "./define.js";
import {
  CONTROLS_ONLY,
  FRAGMENT_SET,
  PATH_SET,
  percentEncode,
  QUERY_SET,
  SPECIAL_QUERY_SET,
  untilAny,
  USERINFO_SET,
} from "./percent.js";
import { parseHost } from "./url-host.js";

/** The parts of a URL, escaped as they are printed. */
export interface UrlParts {
  /** Without the colon. */
  scheme: string;
  username: string;
  password: string;
  /** undefined: it has no authority. */
  host: string | undefined;
  port: string;
  /** Segments, or one opaque text (as of `mailto:`). */
  path: string[] | string;
  /** undefined: it has no "?". */
  query: string | undefined;
  fragment: string | undefined;
}

/** Default ports of the schemes whose URLs have a host and a path of segments. */
export function defaultPort(scheme: string): string | undefined {
  switch (scheme) {
    case "http":
    case "ws":
      return "80";
    case "https":
    case "wss":
      return "443";
    case "ftp":
      return "21";
    case "file":
      return "";
    default:
      return undefined;
  }
}

/** True for schemes that the standard names: http, https, ws, wss, ftp, file. */
export const isSpecial = (scheme: string): boolean => defaultPort(scheme) !== undefined;

/** Reads a URL by the WHATWG rules; undefined when it is none. */
export function parseUrl(input: string, base?: UrlParts): UrlParts | undefined {
  const text = cleaned(input);
  const scheme = schemeOf(text);
  if (scheme === undefined) return base === undefined ? undefined : parseRelative(text, base);
  const rest = slice(text, scheme.length + 1);
  const name = toLowerCase(scheme);
  if (!isSpecial(name)) return parseOther(name, rest);
  if (name === "file") return parseFile(rest, base?.scheme === "file" ? base : undefined);
  if (base?.scheme === name && rest[0] !== "/" && rest[0] !== "\\") return parseRelative(rest, base);
  return parseAuthority(name, withoutSlashes(rest));
}

/** Without spaces and controls at both ends, and without line breaks and tabs inside. */
function cleaned(input: string): string {
  let start = 0;
  let end = input.length;
  while (start < end && charCodeAt(input, start) <= 0x20) start++;
  while (end > start && charCodeAt(input, end - 1) <= 0x20) end--;
  return withoutBreaks(slice(input, start, end));
}

/** Without line breaks and tabs. */
export function withoutBreaks(text: string): string {
  let kept = "";
  for (let at = 0; at < text.length; at++) if (!includes("\t\n\r", text[at] as string)) kept += text[at] as string;
  return kept;
}

/** The scheme in front of a colon. */
export function schemeOf(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === ":" && at > 0) return slice(text, 0, at);
    const letter = charCodeAt(text, at) | 32;
    const isLetter = letter >= 97 && letter <= 122;
    if (!isLetter && (at === 0 || !includes("0123456789+-.", text[at] as string))) return undefined;
  }
  return undefined;
}

function withoutSlashes(text: string): string {
  let at = 0;
  while (text[at] === "/" || text[at] === "\\") at++;
  return slice(text, at);
}

const noParts = (scheme: string): UrlParts => ({
  scheme,
  username: "",
  password: "",
  host: undefined,
  port: "",
  path: [],
  query: undefined,
  fragment: undefined,
});

function copyOf(parts: UrlParts): UrlParts {
  const { scheme, username, password, host, port, path, query } = parts;
  return { scheme, username, password, host, port, path: copyPath(path), query, fragment: undefined };
}

function copyPath(path: string[] | string): string[] | string {
  if (typeof path === "string") return path;
  const copy: string[] = [];
  for (let index = 0; index < path.length; index++) append(copy, path[index] as string);
  return copy;
}

/** A URL of a scheme that the standard does not know. */
function parseOther(scheme: string, rest: string): UrlParts | undefined {
  if (rest[0] === "/" && rest[1] === "/") return parseAuthority(scheme, slice(rest, 2));
  const parts = noParts(scheme);
  if (rest[0] === "/") return withTail(parts, rest);
  const path = untilAny(rest, 0, "?#");
  parts.path = percentEncode(path, CONTROLS_ONLY);
  return withQuery(parts, slice(rest, path.length));
}

function parseFile(rest: string, base: UrlParts | undefined): UrlParts | undefined {
  const isSlash = (at: number): boolean => rest[at] === "/" || rest[at] === "\\";
  if (!isSlash(0)) return base === undefined ? withTail(fileParts(""), rest) : parseRelative(rest, base);
  if (!isSlash(1)) return withTail(fileParts(base?.host ?? ""), rest);
  const text = untilAny(rest, 2, "/\\?#");
  if (isDrive(text)) return withTail(fileParts(""), "/" + slice(rest, 2));
  const host = text === "" ? "" : parseHost(text, true);
  if (host === undefined) return undefined;
  return withTail(fileParts(host === "localhost" ? "" : host), slice(rest, 2 + text.length));
}

const fileParts = (host: string): UrlParts => {
  const parts = noParts("file");
  parts.host = host;
  return parts;
};

const isDrive = (text: string): boolean =>
  text.length === 2 && (text[1] === ":" || text[1] === "|") && schemeOf((text[0] as string) + ":") !== undefined;

function parseAuthority(scheme: string, text: string): UrlParts | undefined {
  const special = isSpecial(scheme);
  const authority = untilAny(text, 0, special ? "/\\?#" : "/?#");
  const parts = noParts(scheme);
  const at = lastIndexOf(authority, "@");
  if (at >= 0) setUserInfo(parts, slice(authority, 0, at));
  if (!setHostAndPort(parts, slice(authority, at + 1))) return undefined;
  if (at >= 0 && parts.host === "") return undefined;
  return withTail(parts, slice(text, authority.length));
}

function setUserInfo(parts: UrlParts, text: string): void {
  const colon = indexOf(text, ":");
  parts.username = percentEncode(colon < 0 ? text : slice(text, 0, colon), USERINFO_SET);
  parts.password = colon < 0 ? "" : percentEncode(slice(text, colon + 1), USERINFO_SET);
}

/** Sets `host:port`. False when it is neither. */
export function setHostAndPort(parts: UrlParts, text: string): boolean {
  const close = lastIndexOf(text, "]");
  const colon = indexOf(text, ":", close < 0 ? 0 : close);
  const name = colon < 0 ? text : slice(text, 0, colon);
  const special = isSpecial(parts.scheme);
  const host = name === "" && !special ? "" : parseHost(name, special);
  if (host === undefined || (name === "" && colon >= 0)) return false;
  const port = colon < 0 ? "" : portOf(parts.scheme, slice(text, colon + 1));
  if (port === undefined) return false;
  parts.host = host;
  parts.port = port;
  return true;
}

/** The port as printed: "" for the scheme's own. */
export function portOf(scheme: string, text: string): string | undefined {
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = charCodeAt(text, at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
    if (value > 65_535) return undefined;
  }
  return text === "" || "" + value === defaultPort(scheme) ? "" : "" + value;
}

function parseRelative(text: string, base: UrlParts): UrlParts | undefined {
  const special = isSpecial(base.scheme);
  const isSlash = (at: number): boolean => text[at] === "/" || (special && text[at] === "\\");
  if (typeof base.path === "string") return text[0] === "#" ? withQuery(copyOf(base), text) : undefined;
  if (isSlash(0) && base.scheme === "file") return parseFile(text, base);
  if (isSlash(0) && isSlash(1)) return parseAuthority(base.scheme, special ? withoutSlashes(text) : slice(text, 2));
  const parts = copyOf(base);
  if (text === "" || text[0] === "#") return withQuery(parts, text);
  parts.query = undefined;
  if (text[0] === "?") return withQuery(parts, text);
  if (isSlash(0)) {
    parts.path = [];
    return withTail(parts, text);
  }
  const kept: string[] = [];
  for (let index = 0; index < base.path.length - 1; index++) append(kept, base.path[index] as string);
  parts.path = kept;
  return withTail(parts, "/" + text);
}

/** Path, query and fragment. The path goes on from the segments that are there. */
function withTail(parts: UrlParts, text: string): UrlParts {
  const path = untilAny(text, 0, "?#");
  if (path !== "" || isSpecial(parts.scheme)) setPath(parts, path);
  return withQuery(parts, slice(text, path.length));
}

/** Adds the segments of a text to the path, `.` and `..` resolved. */
export function setPath(parts: UrlParts, text: string): void {
  const special = isSpecial(parts.scheme);
  const segments = parts.path as string[];
  let from = text[0] === "/" || (special && text[0] === "\\") ? 1 : 0;
  for (;;) {
    const raw = untilAny(text, from, special ? "/\\" : "/");
    const isLast = from + raw.length >= text.length;
    const dots = dotsOf(raw);
    if (dots === 2) {
      const isLetter = parts.scheme === "file" && segments.length === 1 && isDrive(segments[0] as string);
      if (segments.length > 0 && !isLetter) segments.length--;
    }
    if (dots === 0) {
      const isLetter = parts.scheme === "file" && segments.length === 0 && isDrive(raw);
      append(segments, isLetter ? (raw[0] as string) + ":" : percentEncode(raw, PATH_SET));
    } else if (isLast) append(segments, "");
    if (isLast) return;
    from += raw.length + 1;
  }
}

/** 1 for ".", 2 for "..", also when escaped; 0 for any other segment. */
function dotsOf(segment: string): number {
  let dots = 0;
  for (let at = 0; at < segment.length; dots++) {
    if (segment[at] === ".") at++;
    else if (toLowerCase(slice(segment, at, at + 3)) === "%2e") at += 3;
    else return 0;
  }
  return dots <= 2 ? dots : 0;
}

function withQuery(parts: UrlParts, text: string): UrlParts {
  const hash = indexOf(text, "#");
  const query = hash < 0 ? text : slice(text, 0, hash);
  if (query[0] === "?") parts.query = encodedQuery(parts.scheme, slice(query, 1));
  parts.fragment = hash < 0 ? undefined : percentEncode(slice(text, hash + 1), FRAGMENT_SET);
  return parts;
}

/** A query as it is printed. */
export const encodedQuery = (scheme: string, text: string): string =>
  percentEncode(text, isSpecial(scheme) ? SPECIAL_QUERY_SET : QUERY_SET);

/** The path as text. */
export function pathText({ path }: UrlParts): string {
  if (typeof path === "string") return path;
  let text = "";
  for (let index = 0; index < path.length; index++) text += "/" + (path[index] as string);
  return text;
}

/** `host:port`. */
export const hostText = ({ host, port }: UrlParts): string => (host ?? "") + (port === "" ? "" : ":" + port);

/** The whole URL as text. */
export function urlText(parts: UrlParts): string {
  const { scheme, username, password, host, query, fragment } = parts;
  const user = username + (password === "" ? "" : ":" + password);
  const path = pathText(parts);
  const authority = "//" + (user === "" ? "" : user + "@") + hostText(parts);
  // Two slashes of a path must not be read as an authority.
  const start = host !== undefined ? authority : path[0] === "/" && path[1] === "/" ? "/." : "";
  return (
    scheme +
    ":" +
    start +
    path +
    (query === undefined ? "" : "?" + query) +
    (fragment === undefined ? "" : "#" + fragment)
  );
}
