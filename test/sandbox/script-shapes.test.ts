import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { SandboxProvider, SandboxResult } from "../../src/sandbox/provider.js";
import { functionBodySandbox } from "./function-body-sandbox.js";
import { type Shape, SHAPES } from "./script-shapes.js";

const externalFunctions = {
  call_tool: (name: string, { x, y }: { x: number; y: number }) => {
    if (name !== "add") throw new Error(`Unknown tool: ${name}`);
    return { result: x + y };
  },
};

/** A result as a shape says it: of messages and notes, the parts that the shape names. */
function seen(result: SandboxResult, { error, note }: Shape): unknown {
  const notes = (result.notes ?? []).join("\n");
  const message = result.status === "failed" ? result.error.message : "";
  return {
    status: result.status,
    value: result.status === "completed" ? result.value : undefined,
    kind: result.status === "failed" ? result.error.kind : undefined,
    message: error !== undefined && message.includes(error.message) ? error.message : message,
    notes: note !== undefined && notes.includes(note) ? note : notes,
  };
}

function wanted({ value, error, note }: Shape): unknown {
  return {
    status: error === undefined ? "completed" : "failed",
    value,
    kind: error?.kind,
    message: error?.message ?? "",
    notes: note ?? "",
  };
}

const providers: readonly [string, SandboxProvider][] = [
  ["a sandbox of scripts", inProcessSandbox()],
  ["a sandbox of function bodies", functionBodySandbox],
];

describe.each(providers)("%s runs", (_kind, sandbox) => {
  const shapes = SHAPES.filter(({ onlyScripts }) => onlyScripts === undefined || sandbox !== functionBodySandbox);
  it.each(shapes.map((shape): [string, Shape] => [shape.name, shape]))("%s", async (_name, shape) => {
    expect(seen(await sandbox.run(shape.code, { externalFunctions }), shape)).toEqual(wanted(shape));
  });
});

const DOCS = new URL("../../docs/scripts.md", import.meta.url);
const [START, END] = ["<!-- shapes -->", "<!-- /shapes -->"];

describe("docs/scripts.md", () => {
  // UPDATE_DOCS=1 npx vitest run test/sandbox/script-shapes.test.ts
  it("has the table of all shapes (UPDATE_DOCS=1 writes it)", () => {
    const text = readFileSync(DOCS, "utf8");
    const [before, rest = ""] = text.split(START);
    const [, after] = rest.split(END);
    const made = `${before}${START}\n\n${table()}\n\n${END}${after}`;
    if (process.env["UPDATE_DOCS"] !== undefined) writeFileSync(DOCS, made);
    expect(unpadded(readFileSync(DOCS, "utf8"))).toBe(unpadded(made));
  });
});

/** The formatter pads the cells of tables. */
const unpadded = (text: string): string => text.replace(/ +/g, " ").replace(/-{3,}/g, "---");

function table(): string {
  const rows = [["shape", "script", "result"], ["---", "---", "---"], ...SHAPES.map(rowOf)];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function rowOf({ name, code, value, error, note, onlyScripts }: Shape): string[] {
  const outcome =
    error === undefined ? html(JSON.stringify(value) ?? "nothing") : `${error.kind}: ${html(error.message)}`;
  const extra = [
    note === undefined ? "" : `Note: ${html(note)}`,
    onlyScripts === undefined ? "" : `(not for function bodies: ${onlyScripts})`,
  ].filter((text) => text !== "");
  return [html(name), `<code>${html(code)}</code>`, [outcome, ...extra].join("<br>")];
}

/** Text that stands for itself in a cell of a markdown table. */
function html(text: string): string {
  return text
    .replace(/[&<>|`*\\~]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/\n/g, "<br>")
    .replace(/[\p{C}\p{Zl}]/gu, (char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`)
    .replace(/ {2,}/g, (spaces) => "&nbsp;".repeat(spaces.length));
}
