import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let folder: string;
beforeAll(() => {
  // Inside of the package, so that it can be imported by its own name.
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  folder = mkdtempSync(join(ROOT, ".tmp", "register-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let programs = 0;

/** What a program prints, in a process of its own: the entries change classes of the SDK for good. */
async function printed(format: Format, program: string): Promise<string> {
  const file = join(folder, `program-${++programs}.${format === "module" ? "mjs" : "cjs"}`);
  writeFileSync(file, program);
  const { stdout } = await run(process.execPath, [file]);
  return stdout.trim();
}

type Format = "module" | "commonjs";

const SDKS = {
  v1: {
    entry: "mcp-codemode/register",
    parts: [
      ["McpServer", "@modelcontextprotocol/sdk/server/mcp.js"],
      ["Client", "@modelcontextprotocol/sdk/client/index.js"],
      ["InMemoryTransport", "@modelcontextprotocol/sdk/inMemory.js"],
    ],
    shape: "{ x: z.number(), y: z.number() }",
  },
  v2: {
    entry: "mcp-codemode/register/v2",
    parts: [
      ["McpServer", "@modelcontextprotocol/server"],
      ["InMemoryTransport", "@modelcontextprotocol/server"],
      ["Client", "@modelcontextprotocol/client"],
    ],
    shape: "z.object({ x: z.number(), y: z.number() })",
  },
} as const;

type Sdk = keyof typeof SDKS;
const CASES = (["v1", "v2"] as const).flatMap((sdk) =>
  (["module", "commonjs"] as const).map((format) => ({ sdk, format })),
);

const imports = (format: Format, parts: readonly (readonly [string, string])[]): string =>
  parts
    .map(([name, path]) =>
      format === "module" ? `import { ${name} } from "${path}";` : `const { ${name} } = require("${path}");`,
    )
    .join("\n");
const load = (format: Format, entry: string): string =>
  format === "module" ? `import "${entry}";` : `require("${entry}");`;

/** The line that the whole package is about, on a plain server, and a call through it. */
function example(sdk: Sdk, format: Format): string {
  const { entry, parts, shape } = SDKS[sdk];
  return `
    ${imports(format, [...parts, ["codeMode", "mcp-codemode"], ["z", "zod"]])}
    ${load(format, entry)}
    (async () => {
      const server = new McpServer({ name: "demo", version: "1.0.0" });
      const same = server.use(codeMode());
      server.registerTool("add", { inputSchema: ${shape} }, async ({ x, y }) => ({
        content: [{ type: "text", text: String(x + y) }],
      }));
      const [near, far] = InMemoryTransport.createLinkedPair();
      const client = new Client({ name: "c", version: "1" });
      await server.connect(far);
      await client.connect(near);
      const code = 'return Number(await call_tool("add", { x: 3, y: 4 })) * 2';
      const { content } = await client.callTool({ name: "execute", arguments: { code } });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      console.log(JSON.stringify([same === server, names, content[0].text]));
      await client.close();
    })();`;
}

describe.each(CASES)("the register entry of SDK $sdk, $format", ({ sdk, format }) => {
  const { entry, parts } = SDKS[sdk];
  const [[, sdkPath]] = parts;

  it("gives a plain McpServer the method use, and server.use(codeMode()) works", async () => {
    expect(JSON.parse(await printed(format, example(sdk, format)))).toEqual([true, ["search", "execute"], "14"]);
  });
  it("may be loaded twice, and by both of its builds", async () => {
    const program =
      format === "module"
        ? `import { createRequire } from "node:module"; import { McpServer } from "${sdkPath}";
           import "${entry}"; const { use } = McpServer.prototype;
           createRequire(import.meta.url)("${entry}");
           console.log(use === McpServer.prototype.use);`
        : `const { McpServer } = require("${sdkPath}"); require("${entry}"); const { use } = McpServer.prototype;
           import("${entry}").then(() => console.log(use === McpServer.prototype.use));`;
    expect(await printed(format, program)).toBe("true");
  });
  it("refuses a class that has a use of its own, and says what to do", async () => {
    const loading = format === "module" ? `await import("${entry}")` : `require("${entry}")`;
    const program = `
      ${imports(format, [["McpServer", sdkPath]])}
      McpServer.prototype.use = function ownUse() {};
      try { ${loading} } catch (error) { console.log(error.name + ": " + error.message) }`;
    expect(await printed(format, program)).toMatch(
      new RegExp(
        `^ConfigurationError: McpServer of @modelcontextprotocol/.* has a use\\(\\).*${entry}: use withTransforms`,
      ),
    );
  });
  it("is not enumerable on servers", async () => {
    const program = `${imports(format, [["McpServer", sdkPath]])} ${load(format, entry)}
      const keys = []; for (const key in new McpServer({ name: "s", version: "1" })) keys.push(key);
      console.log(keys.includes("use"));`;
    expect(await printed(format, program)).toBe("false");
  });
});

describe.each(["v1", "v2"] as const)("the register entry of SDK %s", (sdk) => {
  const { entry, parts } = SDKS[sdk];
  const [[, sdkPath]] = parts;

  it("reaches a CJS copy of the SDK that has been loaded before, from ESM", async () => {
    const program = `
      import { createRequire } from "node:module";
      const { McpServer } = createRequire(import.meta.url)("${sdkPath}");
      await import("${entry}");
      const esm = await import("${sdkPath}");
      console.log(McpServer !== esm.McpServer, typeof McpServer.prototype.use, typeof esm.McpServer.prototype.use);`;
    expect(await printed("module", program)).toBe("true function function");
  });
  it("leaves the other generation of the SDK alone", async () => {
    const [[, otherPath]] = SDKS[sdk === "v1" ? "v2" : "v1"].parts;
    const program = `import { McpServer } from "${otherPath}"; import "${entry}"; console.log("use" in McpServer.prototype);`;
    expect(await printed("module", program)).toBe("false");
  });
});
