import { isDeepStrictEqual } from "node:util";
import { openApiSource, type OpenApiSource } from "mcp-codemode/openapi";
import { asJson, asList, asStrings, asText, type Json, knownKeys, Todo } from "./case.js";
import { matches, sameJson, shown } from "./compare.js";
import { checkHostKeys, hostFaults } from "./host-assertions.js";
import { HostWatch } from "./host-facts.js";
import { httpFaults } from "./http-assertions.js";
import { ApiServer, optionalText, withPort } from "./openapi-server.js";
import type { Reply } from "./reply.js";
import { REPLY_KEYS, replyFaults, type RunPlace } from "./reply-assertions.js";
import { searchFaults } from "./search-assertions.js";
import { signatureFaults } from "./signature.js";
import { StepRun } from "./steps.js";
import { callerOf } from "./world.js";

const INPUT_KEYS =
  "openapi variants path server calls script query queries limit config generate steps then caller".split(" ");
const OWN_ASSERTS = ["http", "eachCall", "eachCallValueAnyOf", "host", "search", "signature", "steps"];
const OWN_FACTS = ["tools", "specUnchanged", "importMs"];
const VARIANT_KEYS = ["openapi", "servers", "specUrl", "baseUrl", "operationId", "expectImportError"];

/** True for a case about an imported document. */
export const isOpenApiCase = (input: Json): boolean =>
  ["openapi", "path", "server", "calls"].some((key) => key in input) ||
  (input["generate"] as { openapi?: unknown } | undefined)?.openapi !== undefined;

/** @throws {Todo} for anything that is not known, before anything is run. */
export function checkOpenApiCase(input: Json, assert: Json): void {
  knownKeys(input, INPUT_KEYS, "input");
  knownKeys(assert, [...REPLY_KEYS, ...OWN_ASSERTS], "assert");
  if (Object.keys(assert).length === 0) throw new Todo("nothing is asserted");
  checkHostKeys(otherFacts(assert));
}

/** Facts of the process, which any case may ask for. */
const otherFacts = (assert: Json): Json =>
  Object.fromEntries(Object.entries(asJson(assert["host"] ?? {}, "host")).filter(([key]) => !OWN_FACTS.includes(key)));

/** One document of a case, and what it is imported with. */
interface Variant {
  document: object;
  options: { specUrl?: string | undefined; baseUrl?: string | undefined };
  expectImportError: unknown;
}

/** What an import took and gave. */
interface Import {
  source: OpenApiSource;
  tools: string[];
  ms: number;
}

/** A case about imported documents: an API on loopback, and a server whose tools are those of the document. */
export class OpenApiCase {
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
    const port = await this.#api.listen();
    this.#input = withPort(this.#input, port);
    try {
      for (const [index, variant] of this.#variants().entries()) await this.#runVariant(variant, index);
    } finally {
      await this.#api.close();
    }
    return this.#faults;
  }

  #variants(): Variant[] {
    const { variants, openapi } = this.#input;
    if (variants === undefined) {
      return [{ document: asJson(openapi, "openapi"), options: {}, expectImportError: undefined }];
    }
    return asList(variants, "variants").map((value) => this.#variant(asJson(value, "variant")));
  }

  /** A document itself, one with options, or the one that the server URL and the path describe. */
  #variant(value: Json): Variant {
    if (typeof value["openapi"] === "string" || "swagger" in value) {
      return { document: value, options: {}, expectImportError: undefined };
    }
    knownKeys(value, VARIANT_KEYS, "variant");
    const { openapi, servers, specUrl, baseUrl, operationId, expectImportError } = value;
    const path = this.#input["path"];
    const paths = path === undefined ? {} : { [asText(path, "path")]: { get: { operationId } } };
    const described = { openapi: "3.0.3", info: { title: "t", version: "1" }, servers, paths };
    return {
      document: openapi === undefined ? described : asJson(openapi, "variant.openapi"),
      options: { specUrl: optionalText(specUrl, "specUrl"), baseUrl: optionalText(baseUrl, "baseUrl") },
      expectImportError,
    };
  }

  async #runVariant(variant: Variant, index: number): Promise<void> {
    const watch = new HostWatch();
    const before = structuredClone(variant.document);
    this.#api.reset(asList(this.#input["server"] ?? [{}], "server"));
    let run: StepRun | undefined;
    try {
      const imported = await this.#import(variant);
      if (imported === undefined) return;
      run = new StepRun(this.#parts(imported.source));
      await this.#use(run, { index, label: undefined });
      await this.#checkHost(watch, { run, imported, unchanged: isDeepStrictEqual(before, variant.document) });
    } finally {
      watch.stop();
      await run?.close();
    }
  }

  #parts(source: OpenApiSource): ConstructorParameters<typeof StepRun>[0] {
    const { auth: _ofTheImport, ...config } = asJson(this.#input["config"] ?? {}, "config");
    return { tools: [], config, sources: [source] };
  }

  /** Undefined when it failed as it should. */
  async #import({ document, options, expectImportError }: Variant): Promise<Import | undefined> {
    const { auth } = asJson(this.#input["config"] ?? {}, "config");
    const start = performance.now();
    try {
      const source = openApiSource(document, {
        ...options,
        ...(auth === undefined ? {} : { auth: auth as Record<string, string> }),
      });
      const { tools } = await source.load();
      const imported = { source, tools: tools.map(({ name }) => name), ms: performance.now() - start };
      if (expectImportError === undefined) return imported;
      this.#faults.push(`the import should fail with ${shown(expectImportError)}`);
    } catch (error) {
      if (expectImportError === undefined) throw error;
      const { message } = error as Error;
      if (!matches(message, expectImportError)) {
        this.#faults.push(`the import should fail with ${shown(expectImportError)}, failed with ${shown(message)}`);
      }
    }
    return undefined;
  }

  async #use(run: StepRun, place: RunPlace): Promise<void> {
    const { steps, then } = this.#input;
    if (steps !== undefined) await run.run(asList(steps, "steps"));
    await this.#runCalls(run, place);
    const { script } = this.#input;
    if (script !== undefined) this.#check(await run.world.execute(asText(script, "script"), this.#sender()), place);
    await this.#runSearches(run);
    if (this.#assert["http"] !== undefined) {
      this.#faults.push(...httpFaults(this.#api.requests, asJson(this.#assert["http"], "http")));
    }
    if (this.#assert["signature"] !== undefined) {
      this.#faults.push(...(await signatureFaults(run.world, asJson(this.#assert["signature"], "signature"))));
    }
    if (then !== undefined) await run.run(asList(then, "then"));
    this.#faults.push(...run.faults.splice(0));
  }

  #sender(): { caller: ReturnType<typeof callerOf> } {
    return { caller: callerOf(this.#input["caller"]) };
  }

  async #runCalls(run: StepRun, place: RunPlace): Promise<void> {
    const { eachCall, eachCallValueAnyOf } = this.#assert;
    for (const [index, call] of asList(this.#input["calls"] ?? [], "calls").entries()) {
      const [tool, args] = asList(call, "call");
      const code = `return await call_tool(${JSON.stringify(tool)}, ${JSON.stringify(args ?? {})});`;
      const reply = await run.world.execute(code, this.#sender());
      const name = `call ${index + 1}: `;
      if (eachCall !== undefined) {
        this.#add(name, callFaults(reply, asJson(asList(eachCall, "eachCall")[index] ?? {}, "eachCall")));
      } else if (eachCallValueAnyOf !== undefined) {
        const allowed = asList(eachCallValueAnyOf, "eachCallValueAnyOf");
        const holds = !reply.isError && allowed.some((value) => sameJson(reply.value, value));
        this.#add(name, holds ? [] : [`expected one of ${shown(allowed)}, got ${reply.summary}`]);
      } else this.#check(reply, place, name);
    }
  }

  /** A reply that the case says nothing of has to be a success. */
  #check(reply: Reply, place: RunPlace, name = ""): void {
    const says = REPLY_KEYS.some((key) => key in this.#assert);
    const unexpected = !says && reply.isError ? [`failed: ${reply.summary}`] : [];
    this.#add(name, [...unexpected, ...replyFaults(reply, this.#assert, place)]);
  }

  #add(name: string, faults: readonly string[]): void {
    this.#faults.push(...faults.map((fault) => name + fault));
  }

  async #runSearches(run: StepRun): Promise<void> {
    const { query, queries, limit } = this.#input;
    const asked = queries === undefined ? (query === undefined ? [] : [query]) : asList(queries, "queries");
    const found = [];
    for (const text of asked) {
      const args = limit === undefined ? { query: text } : { query: text, limit };
      found.push(await run.world.search(args, this.#sender()));
    }
    if (this.#assert["search"] !== undefined)
      this.#faults.push(...searchFaults(found, asJson(this.#assert["search"], "search")));
  }

  async #checkHost(watch: HostWatch, facts: { run: StepRun; imported: Import; unchanged: boolean }): Promise<void> {
    const { run, imported, unchanged } = facts;
    const { tools, specUnchanged, importMs } = asJson(this.#assert["host"] ?? {}, "host");
    const expected = typeof tools === "number" ? imported.tools.length : imported.tools.toSorted();
    const wanted = Array.isArray(tools) ? asStrings(tools, "host.tools").toSorted() : tools;
    if (tools !== undefined && !sameJson(expected, wanted)) {
      this.#faults.push(`host.tools should be ${shown(tools)}, are ${shown(imported.tools)}`);
    }
    if (specUnchanged !== undefined && specUnchanged !== unchanged) {
      this.#faults.push(`host.specUnchanged should be ${shown(specUnchanged)}`);
    }
    if (importMs !== undefined && imported.ms > Number(importMs)) {
      this.#faults.push(`host.importMs should be at most ${shown(importMs)}, was ${imported.ms.toFixed(0)}`);
    }
    const evidence = { measured: watch.measure(), worlds: run.worlds, probe: {}, steps: false, aliases: run.aliases };
    this.#faults.push(...(await hostFaults(evidence, otherFacts(this.#assert))));
  }
}

/** Assertions about one call: those of a reply, and of its blocks. */
function callFaults(reply: Reply, wanted: Json): string[] {
  const { contentTypes, imageData, textMatches, ...others } = wanted;
  knownKeys(others, REPLY_KEYS, "eachCall");
  const faults = replyFaults(reply, others, { index: 0, label: undefined });
  const types = reply.blocks.map(({ type }) => type);
  const first = asList(contentTypes ?? [], "contentTypes");
  if (!first.every((type, index) => types[index] === type))
    faults.push(`content ${shown(types)} is not ${shown(first)}`);
  const data = reply.blocks.find(({ type }) => type === "image")?.["data"];
  if (imageData !== undefined && data !== imageData) faults.push(`the image is ${shown(data)}`);
  if (textMatches !== undefined && !matches(reply.text, textMatches)) faults.push(`the text is ${shown(reply.text)}`);
  return faults;
}
