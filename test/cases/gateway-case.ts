import { createGateway, expandGatewayConfig, type GatewayConfig } from "mcp-codemode/gateway";
import { asJson, asList, type Json, knownKeys, Todo } from "./case.js";
import { includesPart, shown } from "./compare.js";
import { checkHostKeys, hostFaults } from "./host-assertions.js";
import { HostWatch } from "./host-facts.js";
import { httpFaults } from "./http-assertions.js";
import { ApiServer, withPort } from "./openapi-server.js";

const INPUT_KEYS = ["config", "env", "calls", "server"];
const ASSERT_KEYS = ["expanded", "expandErrors", "http", "host"];

/** True for a case about a gateway configuration as users write it. */
export const isGatewayConfigCase = (input: Json): boolean =>
  (input["config"] as { upstreams?: unknown } | undefined)?.upstreams !== undefined;

/** @throws {Todo} for anything that is not known, before anything is run. */
export function checkGatewayConfigCase(input: Json, assert: Json): void {
  knownKeys(input, INPUT_KEYS, "input");
  knownKeys(input["config"], ["upstreams"], "config");
  knownKeys(assert, ASSERT_KEYS, "assert");
  if (Object.keys(assert).length === 0) throw new Todo("nothing is asserted");
  checkHostKeys(assert["host"] ?? {});
}

/** A case about a configuration: what it expands to, and where requests go. */
export class GatewayConfigCase {
  readonly #assert: Json;
  readonly #api = new ApiServer();
  readonly #faults: string[] = [];
  #input: Json;

  constructor(assert: Json, input: Json) {
    this.#assert = assert;
    this.#input = input;
  }

  /** Everything that is wrong. */
  async run(): Promise<string[]> {
    this.#input = withPort(this.#input, await this.#api.listen());
    this.#api.reset(asList(this.#input["server"] ?? [{}], "server"));
    const watch = new HostWatch();
    try {
      await this.#expand();
      if (this.#input["calls"] !== undefined) await this.#call(asList(this.#input["calls"], "calls"));
      if (this.#assert["http"] !== undefined) {
        this.#faults.push(...httpFaults(this.#api.requests, asJson(this.#assert["http"], "http")));
      }
      const wanted = asJson(this.#assert["host"] ?? {}, "host");
      const evidence = { measured: watch.measure(), worlds: [], probe: {}, steps: false, aliases: [] };
      this.#faults.push(...(await hostFaults(evidence, wanted)));
    } finally {
      watch.stop();
      await this.#api.close();
    }
    return this.#faults;
  }

  get #config(): GatewayConfig {
    return { mcpServers: asJson(asJson(this.#input["config"], "config")["upstreams"], "upstreams") } as GatewayConfig;
  }

  get #env(): Record<string, string> {
    return asJson(this.#input["env"] ?? {}, "env") as Record<string, string>;
  }

  async #expand(): Promise<void> {
    const { upstreams, errors } = await expandGatewayConfig(this.#config, { env: this.#env });
    const { expanded, expandErrors = {} } = this.#assert;
    // The configuration after expansion: below its own key, or the servers alone.
    const whole = { ...upstreams, upstreams, mcpServers: upstreams, servers: upstreams };
    if (expanded !== undefined && !includesPart(whole, expanded)) {
      this.#faults.push(`the configuration should expand to ${shown(expanded)}, is ${shown(upstreams)}`);
    }
    for (const [id, part] of Object.entries(asJson(expandErrors, "expandErrors"))) {
      const error = errors[id];
      const parts = Array.isArray(part) ? part : [part];
      if (error === undefined || !parts.every((text) => error.includes(String(text)))) {
        this.#faults.push(
          `${id} should fail with ${shown(part)}, ${error === undefined ? "does not fail" : `says ${shown(error)}`}`,
        );
      }
    }
  }

  async #call(calls: readonly unknown[]): Promise<void> {
    const gateway = await createGateway(this.#config, { env: this.#env });
    try {
      await gateway.ready();
      for (const call of calls) {
        const [tool, args] = asList(call, "call");
        // Whether the server behind the address answers is its own affair: the case is about where requests go.
        await gateway.run(`return await call_tool(${JSON.stringify(tool)}, ${JSON.stringify(args ?? {})})`);
      }
    } finally {
      await gateway.close();
    }
  }
}
