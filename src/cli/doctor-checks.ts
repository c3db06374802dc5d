import { nearestNames } from "../nearest.js";
import { upstreamsOf, type GatewayConfig } from "../gateway/config.js";
import type { UpstreamStatus } from "../gateway/upstream/upstream.js";
import { VERSION } from "../version.js";
import type { OpenGateway } from "./open-gateway.js";

/** One thing that was looked at. */
export interface Finding {
  check: string;
  ok: boolean;
  message: string;
  /** What to do about it. */
  remedy?: string;
}

/** What the tool definitions cost a model, without and with code mode. */
export interface TokenCounts {
  before: number;
  after: number;
  /** "o200k_base", or how it was estimated. */
  tokenizer: string;
}

/** Looks at everything, one thing after the other. */
export async function examine({
  gateway,
  config,
  configPath,
}: OpenGateway): Promise<{ findings: Finding[]; tokens: TokenCounts }> {
  await gateway.ready();
  const upstreams = gateway.status().map(upstreamFinding);
  const tools = await gateway.codeMode.listTools();
  const count = await tokenCounter();
  const tokens = {
    before: count.tokens(JSON.stringify(tools)),
    after: count.tokens(JSON.stringify(gateway.codeMode.metaTools.map(({ tool }) => tool))),
    tokenizer: count.name,
  };
  const findings: Finding[] = [
    { check: "mcp-codemode", ok: true, message: `version ${VERSION}, Node ${process.versions.node}` },
    { check: "configuration", ok: true, message: `${configPath}, ${upstreams.length} servers` },
    ...misspelt(config),
    ...upstreams,
    await sandboxFinding(gateway),
    tokenFinding(tools.length, tokens),
  ];
  return { findings, tokens };
}

function upstreamFinding({ id, state, tools, reason, server }: UpstreamStatus): Finding {
  const check = `server ${id}`;
  if (state === "ready") {
    const name = server?.name === undefined ? "" : ` (${server.name} ${server.version ?? ""})`;
    return { check, ok: true, message: `${tools} tools${name}` };
  }
  if (state === "disabled") return { check, ok: true, message: "disabled" };
  return { check, ok: false, message: reason ?? state, remedy: remedyFor(state, reason ?? "") };
}

const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /is not set|nobody answered/,
    "Set it in the environment that starts mcp-codemode, or give it a default in the configuration.",
  ],
  [/ENOENT/, "Is the program installed, and on the PATH that mcp-codemode has? An absolute path always works."],
  [/EACCES/, "The program may not be executed: chmod +x."],
  [
    /no handshake within/,
    "A first start may download a package: raise connectTimeoutMs, or run the command once by hand. Does it speak MCP over stdio?",
  ],
  [
    /refused the token|401|403|Unauthorized/i,
    "The credentials were refused: renew the token in headers or bearerTokenEnv.",
  ],
  [
    /fetch failed|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/,
    "Nothing answers at this address: is the server running, and the url right?",
  ],
  [/404|405|406/, "There is no MCP endpoint at this address: check the path of the url."],
  [/ended with code|was ended by/, "The program ended by itself: run the command by hand to see more."],
];

function remedyFor(state: string, reason: string): string {
  const known = REMEDIES.find(([pattern]) => pattern.test(reason));
  return (
    known?.[1] ??
    (state === "failed" ? "Correct the configuration." : "Run the command by hand, with --log-level debug here.")
  );
}

const KNOWN_KEYS = [
  [
    "allow",
    "args",
    "bearerTokenEnv",
    "command",
    "connectTimeoutMs",
    "cwd",
    "defaultArguments",
    "deny",
    "disabled",
    "env",
  ],
  [
    "envFile",
    "headers",
    "hiddenArguments",
    "passThrough",
    "policy",
    "prefix",
    "serverUrl",
    "toolTimeoutMs",
    "trust",
    "type",
  ],
  ["url"],
].flat();

/** Other clients have keys of their own, which are none of our business; one that nearly is ours is a mistake. */
function misspelt(config: GatewayConfig): Finding[] {
  return [...upstreamsOf(config).upstreams].flatMap(([id, entry]) =>
    Object.keys(entry)
      .filter((key) => !KNOWN_KEYS.includes(key))
      .flatMap((key) => {
        const [nearest] = nearestNames(key, KNOWN_KEYS, 1);
        if (nearest === undefined) return [];
        return [
          { check: `server ${id}`, ok: false, message: `unknown key ${key}`, remedy: `Did you mean ${nearest}?` },
        ];
      }),
  );
}

async function sandboxFinding(gateway: OpenGateway["gateway"]): Promise<Finding> {
  const { result, error, duration_seconds } = await gateway.run("return 6 * 7");
  if (result === 42)
    return { check: "sandbox", ok: true, message: `a script ran in ${Math.round(duration_seconds * 1_000)} ms` };
  return {
    check: "sandbox",
    ok: false,
    message: error ?? "a script gave the wrong value",
    remedy: "Was the package bundled? The file worker.js of mcp-codemode must be there.",
  };
}

function tokenFinding(tools: number, { before, after, tokenizer }: TokenCounts): Finding {
  const saved = before > after ? `, ${Math.round((1 - after / before) * 100)} % less` : "";
  return {
    check: "tokens",
    ok: true,
    message: `${before} for the definitions of ${tools} tools, ${after} with code mode${saved} (${tokenizer})`,
  };
}

/** A real tokenizer where one is installed: it is far too large to bring along for this. */
async function tokenCounter(): Promise<{ name: string; tokens: (text: string) => number }> {
  try {
    const { encode } = (await import("gpt-tokenizer")) as { encode: (text: string) => readonly number[] };
    return { name: "o200k_base", tokens: (text) => encode(text).length };
  } catch {
    return {
      name: "estimated: bytes / 3.5; install gpt-tokenizer to count",
      tokens: (text) => Math.ceil(Buffer.byteLength(text) / 3.5),
    };
  }
}
