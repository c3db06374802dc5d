import { writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import type { ExecResult } from "../../src/meta-tools/results/process.js";
import { scripted } from "../gateway/fixtures/upstreams.js";
import { project, run } from "./terminal.js";

const sum = {
  name: "sum",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  outputSchema: { type: "object", properties: { result: { type: "number" } }, required: ["result"] },
  on: { sum: ["a", "b"] },
};
const math = scripted({ tools: [sum, { name: "no-go", on: { throws: { message: "no" } } }] });
const dead = { command: "no-such-program-anywhere" };

describe("exec", () => {
  it("runs a script, hands it args and env, prints an ExecResult and exits with 0 (nomad 33)", async () => {
    const script = `console.log("hi", args.join("+")); console.error("careful");
const total: number = await tools.math.sum({ a: 1, b: Number(env.B) });
return { total };`;
    const cwd = project({ math }, { "script.ts": script });
    const { code, stdout, stderr } = await run(["exec", "script.ts", "--env", "B=41", "--", "x", "--flag"], { cwd });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      stdout: "hi x+--flag",
      stderr: "careful",
      result: { total: 42 },
      error: null,
      returncode: 0,
      duration_seconds: expect.any(Number),
      tool_calls: [{ server: "math", tool: "math__sum", duration_seconds: expect.any(Number), ok: true }],
    });
    expect(code).toBe(0);
  });

  it("exits with 1 when the script fails, and still prints what there was (nomad 26, 33)", async () => {
    const cwd = project({ math });
    const failed = await run(["exec", "-"], { cwd, stdin: "console.log('before'); await call_tool('math__no-go')" });
    expect(JSON.parse(failed.stdout)).toMatchObject({
      stdout: "before",
      returncode: 1,
      error: expect.stringContaining("no"),
      tool_calls: [{ tool: "math__no-go", ok: false }],
    });
    expect(failed.code).toBe(1);
    const late = await run(["exec", "-", "--timeout", "200ms"], { cwd, stdin: "for (;;) {}" });
    expect(JSON.parse(late.stdout)).toMatchObject({ returncode: null });
    expect(late.code).toBe(1);
  });

  it("prints for people at a terminal, without colours when NO_COLOR is set", async () => {
    const cwd = project({ math });
    const stdin = "console.log('line'); return await tools.math.sum({ a: 1, b: 2 })";
    const coloured = await run(["exec", "-"], { cwd, stdin, isTty: true });
    expect(coloured.stdout).toBe("line\n3\n");
    expect(coloured.stderr).toContain("\u001b[2m1 call, ");
    const plain = await run(["exec", "-"], { cwd, stdin, isTty: true, env: { NO_COLOR: "1" } });
    expect(plain.stderr).not.toContain("\u001b");
    const json = await run(["exec", "-", "--json"], { cwd, stdin, isTty: true });
    expect((JSON.parse(json.stdout) as ExecResult).result).toBe(3);
  });

  it("goes on when a server is down, and says so on stderr", async () => {
    const cwd = project({ math, dead });
    const stdin =
      "return [await tools.math.sum({ a: 1, b: 2 }), await call_tool('dead__x').catch((error) => error.message)]";
    const { code, stdout, stderr } = await run(["exec", "-"], { cwd, stdin });
    expect((JSON.parse(stdout) as ExecResult).result).toEqual([
      3,
      expect.stringContaining('Server "dead" is not available'),
    ]);
    expect(stderr).toMatch(/^warn dead: .*ENOENT/);
    expect(code).toBe(0);
  });

  it("takes inputs from the arguments or the environment, and never prints them", async () => {
    const env = scripted(
      { tools: [{ name: "env", on: { returnsEnv: ["KEY"] } }] },
      { env: { KEY: "${input:api-key}" } },
    );
    const cwd = project({ env });
    const stdin = "return (await tools.env.env()).KEY.length";
    const given = await run(["exec", "-", "--input", "api-key=abc123"], { cwd, stdin });
    const fromEnvironment = await run(["exec", "-"], { cwd, stdin, env: { MCP_CODEMODE_INPUT_API_KEY: "abcd" } });
    expect([given, fromEnvironment].map(({ stdout }) => (JSON.parse(stdout) as ExecResult).result)).toEqual([6, 4]);
    const missing = await run(["exec", "-"], { cwd, stdin });
    expect(missing.stderr).toContain('Server "env", env.KEY: nobody answered the input "api-key"');
    expect(JSON.stringify([given, fromEnvironment])).not.toMatch(/abc123|abcd/);
  });

  it("says what is wrong with its arguments, and exits with 2", async () => {
    const cwd = project({ math });
    const cases: [string[], RegExp][] = [
      [["exec", "missing.ts"], /The script cannot be read: ENOENT/],
      [["exec"], /missing required argument 'script'/],
      [["exec", "-", "--timeout", "soon"], /Expected a time such as/],
      [["exec", "-", "--config", "none.json"], /The configuration cannot be read/],
      [["exec", "-", "--enw", "A=1"], /unknown option '--enw'[\s\S]*Did you mean --env\?/],
      [["serv"], /unknown command 'serv'[\s\S]*Did you mean serve\?/],
      [["exec", "-", "--env", "A"], /Expected NAME=value/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr, stdout } = await run(args, { cwd });
      expect(stderr).toMatch(message);
      expect([code, stdout]).toEqual([2, ""]);
    }
    const empty = project({});
    writeFileSync(join(empty, "mcp.json"), "{ nonsense");
    expect((await run(["exec", "-"], { cwd: empty })).stderr).toMatch(/mcp\.json is no JSON/);
    const none = await run(["exec", "-"], { cwd: "/" });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("There is no configuration")]);
  });
});

describe("search", () => {
  it("prints JSON for programs and text for people", async () => {
    const cwd = project({ math, other: scripted({ tools: [{ ...sum, name: "plus" }] }), dead });
    const piped = await run(["search", "add", "numbers", "--server", "math"], { cwd });
    expect((JSON.parse(piped.stdout) as { name: string }[]).map(({ name }) => name)).toEqual(["math__sum"]);
    expect(piped.stderr).toContain('Server "dead" is not available');
    const shown = await run(["search", "add numbers", "--detail", "signature", "--limit", "1"], { cwd, isTty: true });
    expect(shown.stdout).toMatch(/math__sum|other__plus/);
    expect(shown.stdout).toContain("a: number");
    expect(shown.code).toBe(0);
    const unknown = await run(["search", "x", "--server", "nope"], { cwd });
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('"nope"')]);
  });
});

describe("types", () => {
  it("prints declarations that check a script, by tool and by server (nomad 35)", async () => {
    const cwd = project({ math, "my server": scripted({ tools: [{ ...sum, name: "class" }] }) });
    const { stdout, code } = await run(["types"], { cwd });
    expect(code).toBe(0);
    const script = `const a: number = await tools.math__sum({ a: 1, b: 2 });
const b: number = await tools.math.sum({ a: 1, b: 2 });
const c = await tools.my_server.class_({ a: 1, b: Number(args[0]) + Number(env.B) });
await call_tool("math__no-go");
export { a, b, c };`;
    expect(problems({ "tools.d.ts": stdout, "script.ts": script })).toEqual([]);
    const wrong = `await tools.math.sum({ a: "1", b: 2 }); await call_tool("nothing"); export {};`;
    expect(problems({ "tools.d.ts": stdout, "script.ts": wrong })).toEqual([
      "Type 'string' is not assignable to type 'number'.",
      expect.stringContaining(`'"nothing"' is not assignable`),
    ]);
  });
});

/** What the compiler says of these files, strictly. */
function problems(files: Record<string, string>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const inner = { ...host };
  host.getSourceFile = (name, version, ...rest) => {
    const text = files[name];
    return text === undefined ? inner.getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  host.fileExists = (name) => name in files || inner.fileExists(name);
  host.readFile = (name) => files[name] ?? inner.readFile(name);
  const program = ts.createProgram(Object.keys(files), options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("doctor", () => {
  interface Report {
    ok: boolean;
    findings: { check: string; ok: boolean; message: string; remedy?: string }[];
    tokens: { before: number; after: number };
  }

  it("says what works, and what it costs with and without code mode", async () => {
    const { stdout, code } = await run(["doctor"], {
      cwd: project({ math: scripted({ generateTools: { count: 200 } }) }),
    });
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([expect.objectContaining({ check: "sandbox" })]),
    });
    expect(report.tokens.after).toBeLessThan(report.tokens.before / 3);
    expect(code).toBe(0);
  });

  it("says what is wrong and how to mend it, and exits with 1", async () => {
    const servers = {
      math,
      dead,
      unset: { command: "x", env: { KEY: "${NOT_SET_HERE}" } },
      typo: { ...math, alow: ["sum"] },
      gone: { url: "http://127.0.0.1:9/mcp" },
      crash: scripted({ behaviour: { exitCode: 4 } }),
    };
    const { stdout, code } = await run(["doctor"], { cwd: project(servers) });
    const wrong = (JSON.parse(stdout) as Report).findings.filter(({ ok }) => !ok);
    const said = Object.fromEntries(wrong.map(({ check, message, remedy }) => [check, `${message} -> ${remedy}`]));
    expect(said).toEqual({
      "server dead": expect.stringMatching(/ENOENT.*-> Is the program installed/),
      "server unset": expect.stringMatching(/NOT_SET_HERE is not set.*-> Set it in the environment/),
      "server typo": "unknown key alow -> Did you mean allow?",
      "server gone": expect.stringMatching(/-> Nothing answers at this address/),
      "server crash": expect.stringMatching(/ended with code 4.*-> The program ended by itself/s),
    });
    expect(code).toBe(1);
    const shown = await run(["doctor"], { cwd: project({ dead }), isTty: true, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toMatch(/FAIL server dead: .*ENOENT\n {5}-> Is the program installed/);
  });
});

describe("every command", () => {
  it.each(["serve", "exec", "search", "types", "doctor"])("%s has help with examples", async (command) => {
    const { code, stdout } = await run([command, "--help"]);
    expect(stdout).toMatch(/Usage: mcp-codemode/);
    expect(stdout).toMatch(/Examples:\n {2}\$ .*mcp-codemode/);
    expect(code).toBe(0);
  });

  it("logs where it is told to, with the level it is told (nomad 34)", async () => {
    const cwd = project({ math, dead });
    const { stderr } = await run(["exec", "-", "--log-file", join(cwd, "gateway.log"), "--log-level", "info"], {
      cwd,
      stdin: "return await tools.math.sum({ a: 1, b: 2 })",
    });
    expect(stderr).toBe("");
    const { readFileSync } = await import("node:fs");
    const log = readFileSync(join(cwd, "gateway.log"), "utf8");
    expect(log).toMatch(/^\d{4}-.*Z warn dead: .*ENOENT/m);
    expect(log).toMatch(/info math: ready, 2 tools/);
  });
});
