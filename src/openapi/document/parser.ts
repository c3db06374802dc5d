import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, messageOf } from "../../errors.js";

/** The part of `@readme/openapi-parser` that is used: an optional peer, loaded when a document needs it. */
interface Parser {
  parse(source: string): Promise<object>;
  bundle(source: string | object): Promise<object>;
  validate(source: object): Promise<{ valid: boolean }>;
  compileErrors(result: { valid: boolean }): string;
}

/** @throws {ConfigurationError} when it is not installed. */
async function loadParser(need: string): Promise<Parser> {
  try {
    return (await import("@readme/openapi-parser")) as unknown as Parser;
  } catch (cause) {
    throw new ConfigurationError(
      `${need} needs the package @readme/openapi-parser: npm install @readme/openapi-parser. A JSON document without references to other files needs none.`,
      { cause },
    );
  }
}

/** A YAML text as an object. @throws {ConfigurationError} when it is none, or the parser is not installed. */
export async function parseYaml(text: string, from: string): Promise<unknown> {
  const parser = await loadParser(`Reading YAML (${from})`);
  // The parser reads files and URLs only. It would download a URL by rules of its own, so it gets a file.
  const directory = await mkdtemp(join(tmpdir(), "mcp-codemode-"));
  try {
    const file = join(directory, "openapi.yaml");
    await writeFile(file, text, { mode: 0o600 });
    return await parser.parse(file);
  } catch (cause) {
    throw new ConfigurationError(`${from} is neither JSON nor YAML: ${messageOf(cause).replaceAll(directory, "")}`, {
      cause,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * The document with everything that it refers to in other files. `source` is a path, a URL, or the document itself.
 *
 * @throws {ConfigurationError} when a file cannot be read, or the parser is not installed.
 */
export async function bundleDocument(source: string | object, from: string): Promise<object> {
  const parser = await loadParser("externalReferences");
  try {
    return await parser.bundle(typeof source === "string" ? source : structuredClone(source));
  } catch (cause) {
    throw new ConfigurationError(`The references of ${from} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** @throws {ConfigurationError} with every fault, when the document is no valid OpenAPI. */
export async function validateDocument(document: object, from: string): Promise<void> {
  const parser = await loadParser("validate");
  const result = await parser.validate(structuredClone(document));
  if (!result.valid) throw new ConfigurationError(`${from} is not valid: ${parser.compileErrors(result)}`);
}
