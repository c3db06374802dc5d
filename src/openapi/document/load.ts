import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { keyword, schemaObject, type SchemaObject } from "../../catalog/json-schema.js";
import { ConfigurationError, messageOf } from "../../errors.js";
import { ApiDocument } from "./api-document.js";
import { bundleDocument, parseYaml, validateDocument } from "./parser.js";
import { upgradeSwagger2 } from "./swagger2.js";

/** What a document is loaded with. */
export interface LoadOptions {
  specUrl: URL | undefined;
  externalReferences: boolean;
  validate: boolean;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** A document as text is at most this long, in bytes: the longest known public one has 40 MB. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const DOWNLOAD_TIMEOUT_MS = 30_000;

/** A document that was found, parsed but not looked at. */
interface Found {
  value: unknown;
  /** What a reader of an error knows it by. */
  from: string;
  /** Where it is: what references to other files are relative to. */
  place: string | undefined;
  address: URL | undefined;
}

/**
 * Loads a document of OpenAPI 3.0, 3.1 or Swagger 2: an object (never changed), JSON or YAML text, a path or a URL.
 *
 * @throws {ConfigurationError} when it cannot be read, or is no such document.
 */
export async function loadDocument(source: string | URL | object, options: LoadOptions): Promise<ApiDocument> {
  const found = await find(source, options);
  const { from, place } = found;
  const given = recognised(found.value, from);
  const whole = options.externalReferences ? await bundleDocument(place ?? given, from) : given;
  if (options.validate) await validateDocument(whole, from);
  const root = recognised(whole, from);
  const isOld = typeof keyword(root, "swagger") === "string";
  return new ApiDocument(isOld ? upgradeSwagger2(root) : root, options.specUrl ?? found.address);
}

async function find(source: string | URL | object, options: LoadOptions): Promise<Found> {
  if (source instanceof URL)
    return source.protocol === "file:" ? fromFile(fileURLToPath(source)) : fromUrl(source, options);
  if (typeof source === "string") {
    if (/^https?:\/\//i.test(source)) return fromUrl(new URL(source), options);
    if (/^file:\/\//i.test(source)) return fromFile(fileURLToPath(source));
    if (/^\s*\{|\n/.test(source)) return found(await parsed(source, "The text"), "The text");
    return fromFile(resolve(source));
  }
  return found(source, "The document");
}

const found = (value: unknown, from: string): Found => ({ value, from, place: undefined, address: undefined });

async function fromFile(path: string): Promise<Found> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new ConfigurationError(`The OpenAPI document ${path} cannot be read: ${messageOf(cause)}`, { cause });
  });
  return { value: await parsed(text, path), from: path, place: path, address: undefined };
}

async function fromUrl(url: URL, options: LoadOptions): Promise<Found> {
  // Without its query, which may hold a key.
  const from = url.origin + url.pathname;
  try {
    const response = await options.fetch(url.href, {
      headers: { accept: "application/json, application/yaml;q=0.9, */*;q=0.5" },
      signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > MAX_DOCUMENT_BYTES)
      throw new Error(`it has ${bytes.length} bytes, at most ${MAX_DOCUMENT_BYTES}`);
    return { value: await parsed(new TextDecoder().decode(bytes), from), from, place: url.href, address: url };
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`The OpenAPI document ${from} cannot be loaded: ${messageOf(cause)}`, { cause });
  }
}

async function parsed(text: string, from: string): Promise<unknown> {
  const content = text.replace(/^\uFEFF/, "");
  if (!/^\s*[{[]/.test(content)) return parseYaml(content, from);
  try {
    return JSON.parse(content) as unknown;
  } catch (cause) {
    // YAML in flow style begins like JSON, but almost always such a text is JSON with a mistake.
    throw new ConfigurationError(`${from} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
}

/** @throws {ConfigurationError} for anything but a document of a version that is understood. */
function recognised(value: unknown, from: string): SchemaObject {
  const root = schemaObject(value);
  const version = root && (keyword(root, "openapi") ?? keyword(root, "swagger"));
  // YAML has numbers where people write versions without quotes.
  if (root === undefined || !/^(2|3)(\.\d+)*$/.test(String(version))) {
    const got = version === undefined ? "no version" : `version ${JSON.stringify(version)}`;
    throw new ConfigurationError(
      `${from} is no OpenAPI document: expected "openapi": "3.0.x" or "3.1.x", or "swagger": "2.0", found ${got}.`,
    );
  }
  if (schemaObject(keyword(root, "paths")) === undefined) {
    throw new ConfigurationError(`${from} has no paths: there is nothing to call.`);
  }
  return typeof keyword(root, "swagger") === "number" ? { ...root, swagger: "2.0" } : root;
}
