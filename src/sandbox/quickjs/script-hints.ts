import { nearestNames } from "../../nearest.js";
import type { GuestError } from "./protocol.js";

/** What a hint may depend on. */
export interface HintFacts {
  functions: readonly string[];
  openCalls: number;
  gaveText: ReadonlySet<string>;
}

/** What to do about an error that a script met, where that is known. */
export function hintFor(error: GuestError, facts: HintFacts): string | undefined {
  const missing = missingName(error);
  if (missing !== undefined) return missingNameHint(missing, facts.functions);
  if (error.name !== "TypeError" || !MISREAD.test(error.message)) return undefined;
  if (facts.openCalls > 0) return unawaitedHint(facts.openCalls);
  // Of call_tool the caller of the sandbox knows more: which tool it was, and what it promises to give.
  const text = [...facts.gaveText].filter((name) => name !== "call_tool");
  if (text.length === 0) return undefined;
  return `${text.join(" and ")} gave text (a string). If it is JSON, read it with JSON.parse.`;
}

/** What reading a promise or a text as an object ends in. */
const MISREAD = /^(cannot read property |not a function$|value is not iterable$|cannot convert to object$)/;

const unawaitedHint = (open: number): string =>
  `${open === 1 ? "A call had" : `${open} calls had`} no answer yet: every call gives a promise. Write \`await\` before it to get its value.`;

const missingName = ({ name, message }: GuestError): string | undefined =>
  name === "ReferenceError" ? /^'?([^' ]+)'? is not defined$/.exec(message)?.[1] : undefined;

const NETWORK = "There is no network in a script";
const NO_MODULES = "A script is no module and has no packages";
const NO_NODE = "Node's globals do not exist in a script";
const NO_BROWSER = "There is no browser around a script";

/** Names that models expect from other places. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    [NETWORK]: "fetch XMLHttpRequest WebSocket EventSource axios got request Request Response Headers FormData",
    [NO_MODULES]:
      "require module exports define __dirname __filename fs path os http https child_process lodash _ zod z dayjs moment",
    [NO_NODE]: "process Buffer global Deno Bun",
    [NO_BROWSER]:
      "window document self navigator location localStorage sessionStorage alert prompt confirm jQuery $ Blob File",
  }).flatMap(([reason, names]) => names.split(" ").map((name): [string, string] => [name, reason])),
);

/** What every script has; names of the language itself are left out. */
const ALWAYS = ["console", "sleep", "setTimeout", "URL", "structuredClone", "TextEncoder", "crypto"];

function missingNameHint(name: string, functions: readonly string[]): string {
  const reason = ELSEWHERE.get(name);
  if (reason !== undefined) return `${reason}: ${wayOut(functions)}.`;
  if (name === "Intl" || name === "Temporal")
    return `${name} does not exist here: format with toFixed, toISOString and the like.`;
  const own = functions.includes("call_tool") ? [...functions, "tools"] : functions;
  const [near] = nearestNames(name, [...own, ...ALWAYS], 1);
  const guess = near === undefined ? "" : `Did you mean ${near}? `;
  return `${guess}In scope: ${[...own, "console"].join(", ")}, and what JavaScript itself has.`;
}

/** How a script reaches anything outside of it. */
function wayOut(functions: readonly string[]): string {
  if (functions.includes("call_tool")) return "tools are the only way out. Use `await call_tool(name, args)`";
  if (functions.length === 0) return "it can only compute";
  return `the only way out is ${functions.map((name) => `\`await ${name}(...)\``).join(", ")}`;
}

/** The name of the module that a script wanted to import. */
export const missingModule = ({ name, message }: GuestError): string | undefined =>
  name === "ReferenceError" ? /^could not load module '([^]*)'$/.exec(message)?.[1] : undefined;

/** What is said instead of the engine's words. */
export const missingModuleText = (module: string, functions: readonly string[]): string =>
  `The module '${module.slice(0, 200)}' does not exist: a script has no modules to import, and ${wayOut(functions)}.`;

/** The engine says of a wrong call only "not a function": with what was called, taken from the code before the place. */
export function messageOfCall({ message, stack }: GuestError, code: string, at: number): string {
  const callee = calleeBefore(code, at);
  if (callee === "") return message;
  const native = /^\s*at (\S+) \(native\)/.exec(stack)?.[1];
  return native === undefined ? `${callee} is not a function` : `${callee} was not given a function`;
}

const MOST_CALLEE = 60;

/** The expression that ends where the arguments of a call begin. Reads backwards, at most a few hundred characters. */
export function calleeBefore(code: string, end: number): string {
  let at = end;
  const least = Math.max(0, end - 400);
  while (at > least) {
    const char = code[at - 1] ?? "";
    if (/[\w$\u0080-\uffff]/.test(char)) at--;
    else if (char === "." || (char === "?" && code[at] === ".")) at = withoutSpaceBefore(code, at - 1);
    else if (char === ")" || char === "]") at = openingOf(code, at - 1, least);
    else break;
  }
  const text = code.slice(at, end).replace(/\s+/g, " ").trim().replaceAll(" .", ".");
  return text.length > MOST_CALLEE ? `…${text.slice(-MOST_CALLEE)}` : text;
}

function withoutSpaceBefore(code: string, from: number): number {
  let at = from;
  while (at > 0 && /\s/.test(code[at - 1] ?? "")) at--;
  return at;
}

/** Where the bracket opens that closes at `from`; `from` itself when it is not found. */
function openingOf(code: string, from: number, least: number): number {
  let depth = 0;
  for (let at = from; at >= least; at--) {
    const char = code[at] ?? "";
    if (")]}".includes(char)) depth++;
    else if ("([{".includes(char) && --depth === 0) return at;
  }
  return from;
}
