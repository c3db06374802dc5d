import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { ToolSource } from "../../src/catalog/tool.js";
import { executeTool } from "../../src/meta-tools/execute.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import type { SandboxProvider } from "../../src/sandbox/provider.js";
import { fakeSource } from "../../src/testing.js";
import { callMeta, engineOf, execute, markOf, textOf, textsOf } from "./engine.js";

const NUMBERS = {
  type: "object" as const,
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};
const image = { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" };

const demo = () =>
  fakeSource(
    {
      add: { inputSchema: NUMBERS, handler: ({ a, b }) => ({ result: Number(a) + Number(b) }) },
      later: async () => "asynchronous",
      list_flows: { annotations: { readOnlyHint: true }, handler: () => '[{"id":1}]' },
      boom: () => {
        throw new Error("quota used up");
      },
      shot: () => ({ content: [{ type: "text", text: "taken" }, image] }),
      photo: () => ({ content: [image] }),
      stuck: () => new Promise(() => {}),
    },
    { name: "demo" },
  );

describe("a script", () => {
  it("43: returns the result of one call", async () => {
    const reply = await execute(engineOf(demo()), 'return await call_tool("add", { a: 2, b: 3 })');
    expect(textsOf(reply)).toEqual(['{"result":5}']);
    expect(reply.isError).toBeUndefined();
  });

  it("44: chains calls", async () => {
    const code = `const first = await call_tool("add", { a: 1, b: 2 });
      return await call_tool("add", { a: first.result, b: 4 })`;
    expect(textOf(await execute(engineOf(demo()), code))).toBe('{"result":7}');
  });

  it("47: reaches synchronous and asynchronous handlers; a string comes back as it is", async () => {
    expect(textOf(await execute(engineOf(demo()), 'return await call_tool("later")'))).toBe("asynchronous");
  });

  it("46: that throws is a failure with its own message, place and frame", async () => {
    const reply = await execute(engineOf(demo()), 'const a = 1;\nthrow new TypeError("mine");');
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toMatch(/^TypeError: mine\n {2}at line 2, column \d+\n.*const a = 1;\n> 2 \|/s);
    expect(markOf(reply)).toMatchObject({ kind: "runtime", error: { name: "TypeError", message: "mine", line: 2 } });
  });

  it("48: catches an unknown tool and keeps what it had", async () => {
    const code = `const kept = (await call_tool("add", { a: 1, b: 1 })).result;
      try { await call_tool("no_such_tool") } catch (e) { return [kept, e.message.startsWith("Unknown tool: no_such_tool"), e.kind] }`;
    expect(textOf(await execute(engineOf(demo()), code))).toBe('[2,true,"tool"]');
  });

  it("50: whose tool fails, uncaught, gives the tool's text", async () => {
    const reply = await execute(engineOf(demo()), 'await call_tool("boom")');
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toContain("call_tool('boom') failed: quota used up");
    expect(markOf(reply).kind).toBe("tool");
  });

  it("51: with bad arguments, uncaught, names the tool, its parameters and a call to paste", async () => {
    const text = textOf(await execute(engineOf(demo()), 'await call_tool("add", { a: 1 })'));
    expect(text).toContain("Parameters of add (* = required): a* (number), b* (number)");
    expect(text).toContain('Next: await call_tool("add", {"a":1,"b":1});');
  });

  it("52: that awaits nothing and returns nothing gives no value and says so", async () => {
    const source = demo();
    const engine = engineOf(source, { structuredOutput: "value" });
    const reply = await execute(engine, 'call_tool("add", { a: 1, b: 1 }); return;');
    expect(reply).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("Nothing was returned") as string }],
    });
    expect(reply).not.toHaveProperty("structuredContent");
    expect(reply).not.toHaveProperty("isError");
    expect(source.calls).toHaveLength(1);
    expect(markOf(reply).calls).toMatchObject([{ tool: "add", ok: true }]);
  });

  it("53: makes at most 50 calls, 3 if told so, and any number with null", async () => {
    const loop = (count: number): string =>
      `for (let i = 0; i < ${count}; i++) await call_tool("later"); return "done"`;
    expect(textOf(await execute(engineOf(demo()), loop(50)))).toBe("done");
    const over = await execute(engineOf(demo()), loop(51));
    expect(markOf(over).kind).toBe("limit");
    expect(textOf(over)).toContain("at most 50");
    expect(textOf(await execute(engineOf(demo(), { limits: { maxToolCalls: 3 } }), loop(5)))).toContain("at most 3");
    expect(textOf(await execute(engineOf(demo(), { limits: { maxToolCalls: null } }), loop(60)))).toBe("done");
  });

  it("54: has a count of its own", async () => {
    const engine = engineOf(demo(), { limits: { maxToolCalls: 2 } });
    const code = 'await call_tool("later"); await call_tool("later"); return "ok"';
    expect(textOf(await execute(engine, code))).toBe("ok");
    expect(textOf(await execute(engine, code))).toBe("ok");
  });

  it("61: ends when the caller gives up, and so does its call", async () => {
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const started = new EventTarget();
    const source = fakeSource({
      wait: (_args, context) => {
        ({ signal } = context);
        started.dispatchEvent(new Event("started"));
        return new Promise(() => {});
      },
    });
    const reply = execute(engineOf(source), 'await call_tool("wait")', { signal: controller.signal });
    await once(started, "started");
    controller.abort();
    expect(markOf(await reply).kind).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
  });

  it("that is empty never reaches the sandbox", async () => {
    for (const code of ["", "  \n", "// nothing", "/* no */ ;"]) {
      const reply = await execute(engineOf(demo()), code);
      expect(markOf(reply).kind).toBe("validation");
      expect(textOf(reply)).toContain("empty");
    }
  });

  it("is not sent back with its result", async () => {
    const reply = await execute(engineOf(demo()), 'const secretMarker = "do-not-echo-7731"; return 1;');
    expect(JSON.stringify(reply)).not.toContain("7731");
  });

  it("finds tools and schemas as data, and those count as calls", async () => {
    const code = `const [found] = await search_tools("add", { limit: 1 });
      const schema = await get_schema(found.name);
      const message = await get_schema("adder").catch((e) => e.message);
      return [found.name, schema.inputSchema.required, message.startsWith("Unknown tool: adder")]`;
    const reply = await execute(engineOf(demo()), code);
    expect(textOf(reply)).toBe('["add",["a","b"],true]');
    expect(markOf(reply).calls.map(({ tool }) => tool)).toEqual(["search_tools", "get_schema", "get_schema"]);
    const bounded = engineOf(demo(), { limits: { maxDiscoveryBytes: 100 } });
    expect(markOf(await execute(bounded, 'return await search_tools("")')).kind).toBe("limit");
  });
});

describe("content", () => {
  it("45: comes out as the image it was, alone or behind its text, never as base64 in text", async () => {
    expect((await execute(engineOf(demo()), 'return await call_tool("photo")')).content).toEqual([image]);
    expect((await execute(engineOf(demo()), 'return await call_tool("shot")')).content).toEqual([
      { type: "text", text: "taken" },
      image,
    ]);
    const inside = await execute(engineOf(demo()), 'return { n: 1, photo: await call_tool("photo") }');
    expect(inside.content).toEqual([
      { type: "text", text: '{"n":1,"photo":{"type":"image","mimeType":"image/png"}}' },
      image,
    ]);
  });

  it("of one run is nothing to another", async () => {
    const engine = engineOf(demo());
    const handle = textOf(await execute(engine, 'return (await call_tool("photo")).handle'));
    const reply = await execute(
      engine,
      `await call_tool("photo"); return { type: "image", handle: ${JSON.stringify(handle)} }`,
    );
    expect(reply.content).toHaveLength(1);
    expect(reply.content[0]).toMatchObject({ type: "text" });
  });
});

describe("a protocol error", () => {
  const urlNeeded = Object.assign(new Error("open a URL"), {
    code: -32042,
    data: { url: "https://auth.example.test" },
  });
  const source: ToolSource = {
    listTools: async () => [{ name: "p", inputSchema: { type: "object" } }],
    callTool: () => Promise.reject(urlNeeded),
  };

  it("that only the client can act on ends the run and goes out as it is", async () => {
    await expect(execute(engineOf(source), 'await call_tool("p")')).rejects.toBe(urlNeeded);
  });

  it("that the script catches is the script's to handle: it has code and data", async () => {
    const code = 'try { await call_tool("p") } catch (e) { return [e.details.code, e.data.url] }';
    expect(textOf(await execute(engineOf(source), code))).toBe('[-32042,"https://auth.example.test"]');
  });
});

describe("the reply of a failed script", () => {
  it("says what had been done, writes first, and how to go on", async () => {
    const code = `await call_tool("list_flows");
      await call_tool("add", { a: 1, b: 1 });
      await call_tool("add", { a: 1, b: 1 });
      const flows = await call_tool("list_flows");
      return flows[0].id.x;`;
    const text = textOf(await execute(engineOf(demo()), code));
    expect(text).toContain("Completed before the error: add (2 calls), list_flows (2 calls, read-only).");
    expect(text).toContain("Hint: list_flows has no outputSchema; call_tool returned its text as a string.");
    expect(text).toContain("Next: const value = await tools.list_flows({});");
  });

  it("offers the call that was meant", async () => {
    const text = textOf(await execute(engineOf(demo()), 'return await call_tool("list_flow")'));
    expect(text).toContain('Next: await call_tool("list_flows", {});');
  });

  it("shows nothing of the host, whatever fails there", async () => {
    const engine = engineOf(demo(), {
      executeResultSerializer: () => {
        throw new Error("printer broke");
      },
    });
    expect(await execute(engine, "return 1")).toMatchObject({ isError: true });
    const broken: SandboxProvider = { name: "broken", run: () => Promise.reject(new Error("/srv/app/secret.ts")) };
    const reply = await execute(engineOf(demo(), { sandboxProvider: broken }), "return 1");
    expect(markOf(reply).kind).toBe("sandbox");
    expect(JSON.stringify(reply)).not.toContain("/srv");
  });
});

describe("no argument of execute", () => {
  const invented: Record<string, unknown>[] = [
    { approve: true },
    { approved: ["delete_doc"] },
    { callerId: "admin" },
    { context: { callerId: "admin" } },
    { limits: { maxToolCalls: null } },
    { timeoutMs: 999_999_999 },
    { maxToolCalls: null },
    { policy: "allow" },
    { authInfo: { clientId: "admin" } },
    { sessionId: "s1" },
    { directCalls: "allow" },
    { inputs: { callerId: "admin" } },
    { __proto__: null, constructor: { callerId: "admin" } },
  ];

  it.each(invented)("approves, raises a limit or names a caller: %o is refused", async (extra) => {
    const source = demo();
    const reply = await callMeta(engineOf(source), "execute", { code: 'return await call_tool("later")', ...extra });
    expect(reply.isError).toBe(true);
    expect(markOf(reply).kind).toBe("validation");
    expect(textOf(reply)).toContain("It takes: code.");
    expect(source.calls).toEqual([]);
  });

  it("is believed under another name: the nearest is named", async () => {
    expect(textOf(await callMeta(engineOf(demo()), "execute", { cod: "return 1" }))).toContain('Did you mean "code"?');
    expect(textOf(await callMeta(engineOf(demo()), "execute", {}))).toContain("code");
    expect(textOf(await callMeta(engineOf(demo()), "execute", { code: 5 }))).toContain("code must be a string");
  });

  it("named inputs is more than data, where it is offered", async () => {
    const engine = engineOf(demo(), { metaTools: [executeTool({ inputs: true })] });
    const args = { code: "return [inputs.callerId, typeof call_tool]", inputs: { callerId: "admin" } };
    expect(textOf(await callMeta(engine, "execute", args))).toBe('["admin","function"]');
  });
});

describe("execute as a tool", () => {
  it("5: has the description that was given, verbatim", async () => {
    const [tool] = engineOf(demo(), { executeDescription: "Mine." }).metaTools.slice(1);
    expect(tool?.tool.description).toBe("Mine.");
  });

  it("6: else says to do the work in a single block, to return, and what is in scope", () => {
    const description = engineOf(demo()).metaTools[1]?.tool.description ?? "";
    for (const part of [
      "single block",
      "return",
      "call_tool(name, params)",
      "tools.<name>(params)",
      "30 s",
      "50 calls",
    ]) {
      expect(description).toContain(part);
    }
    expect(description.length).toBeLessThanOrEqual(2048);
  });

  it("is annotated as the worst that a script could do", () => {
    expect(engineOf(demo()).metaTools[1]?.tool).toMatchObject({
      title: "Execute script",
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    });
  });
});

describe("a provider of somebody else", () => {
  const inner = inProcessSandbox();
  /** Takes the body of an async function, as the contract says for providers that do not take scripts. */
  const custom: SandboxProvider = {
    name: "custom",
    run: (code, options) => inner.run(`return await (async () => {${code}\n})()`, options),
  };

  it("runs scripts as models write them, with tools in scope", async () => {
    const engine = engineOf(demo(), { sandboxProvider: custom });
    expect(textOf(await execute(engine, "const r = await tools.add({ a: 1, b: 2 });\nr * 2"))).toBe("6");
  });

  it("may give a bare value instead of a result", async () => {
    const bare = { name: "bare", run: async () => 42 } as unknown as SandboxProvider;
    expect(textOf(await execute(engineOf(demo(), { sandboxProvider: bare }), "return 1"))).toBe("42");
  });

  it("that cuts no results is bounded all the same", async () => {
    const bare = { name: "bare", run: async () => "x".repeat(200) } as unknown as SandboxProvider;
    const engine = engineOf(demo(), { sandboxProvider: bare, limits: { maxResultBytes: 100 } });
    expect(markOf(await execute(engine, "return 1")).kind).toBe("limit");
  });

  it("that ends before its calls have them finished, and said so", async () => {
    const hasty = {
      name: "hasty",
      run: async (_code: string, { externalFunctions }: Parameters<SandboxProvider["run"]>[1]) => {
        const call = externalFunctions?.["call_tool"] as (name: string) => Promise<unknown>;
        call("later").catch(() => {});
        call("boom").catch(() => {});
        return { status: "completed" as const, value: 1 };
      },
    };
    const reply = await execute(engineOf(demo(), { sandboxProvider: hasty }), "return 1");
    expect(textOf(reply)).toContain("Note: later was not awaited; it finished.");
    expect(textOf(reply)).toContain("Note: boom was not awaited and failed: call_tool('boom') failed: quota used up");
  });
});
