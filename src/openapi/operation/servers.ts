import { keyword, listOf, membersOf, schemaObject, stringsOf, type SchemaObject } from "../../catalog/json-schema.js";
import { ConfigurationError } from "../../errors.js";

/** What decides where requests go. */
export interface ServerOptions {
  /** Wins over every server of the document. */
  baseUrl: URL | undefined;
  /** Values for variables of server URLs. */
  serverVariables: Readonly<Record<string, string>>;
  /** The document's own address. */
  address: URL | undefined;
}

/**
 * The URL that paths are appended to: without a slash at its end, without credentials and fragment.
 *
 * @param servers of the operation, else of the document
 * @throws {ConfigurationError} when there is none, or a variable has no value.
 */
export function serverUrl(servers: readonly unknown[], { baseUrl, serverVariables, address }: ServerOptions): URL {
  if (baseUrl !== undefined) return checkedUrl(baseUrl, "baseUrl");
  const server = schemaObject(listOf(servers)[0]);
  if (server === undefined && address === undefined) {
    throw new ConfigurationError("The document names no server. Say where its API is with the option baseUrl.");
  }
  const template = server === undefined ? "/" : keyword(server, "url");
  const text = server === undefined ? "/" : filledTemplate(String(template), server, serverVariables);
  return checkedUrl(absolute(text, address), "The server of the document");
}

function absolute(text: string, address: URL | undefined): URL {
  try {
    return new URL(text, address);
  } catch (cause) {
    const remedy = "Say where the API is with the option baseUrl, or where the document is with specUrl.";
    throw new ConfigurationError(`The document's server URL ${JSON.stringify(text)} is no full URL. ${remedy}`, {
      cause,
    });
  }
}

function filledTemplate(template: string, server: SchemaObject, given: Readonly<Record<string, string>>): string {
  const variables = new Map(membersOf(keyword(server, "variables")));
  return template.replace(/\{([^{}]*)\}/g, (_all, name: string) => {
    const variable = schemaObject(variables.get(name)) ?? {};
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    const value = own ?? keyword(variable, "default");
    if (typeof value !== "string" && typeof value !== "number") {
      throw new ConfigurationError(
        `The server URL ${template} has a variable "${name}" without a value: give one with the option serverVariables.`,
      );
    }
    const allowed = stringsOf(keyword(variable, "enum"));
    if (own !== undefined && allowed.length > 0 && !allowed.includes(own)) {
      throw new ConfigurationError(`serverVariables.${name} must be one of ${allowed.join(", ")}, got "${own}".`);
    }
    return String(value);
  });
}

function checkedUrl(url: URL, what: string): URL {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ConfigurationError(`${what} must be an http or https URL, got ${url.protocol}//.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ConfigurationError(`${what} holds a user name or password: use the option basic for them.`);
  }
  const checked = new URL(url);
  checked.hash = "";
  checked.pathname = checked.pathname.replace(/\/+$/, "");
  return checked;
}
