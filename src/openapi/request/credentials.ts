import { keyword, membersOf, schemaObject, type SchemaObject } from "../../catalog/json-schema.js";
import type { CallContext } from "../../catalog/tool.js";
import { ConfigurationError } from "../../errors.js";
import { nearestNames } from "../../nearest.js";
import type { ApiDocument } from "../document/api-document.js";

/**
 * A secret or fixed text: itself, the name of an environment variable, or a function that gives it for one call (of a
 * token that is renewed, or of the caller's own).
 */
export type Credential =
  | string
  | { readonly env: string }
  | ((context: CallContext) => string | undefined | Promise<string | undefined>);

/** A user name and its password. */
export interface BasicCredential {
  username: Credential;
  password: Credential;
}

/** Credentials and fixed values of an API. The model never sees them, and no argument replaces them. */
export interface CredentialOptions {
  /** By the names of the document's security schemes; oauth2 and openIdConnect take an access token. */
  auth?: Readonly<Record<string, Credential | BasicCredential>> | undefined;
  /** Sent with every request. */
  headers?: Readonly<Record<string, Credential>> | undefined;
  /** Sent with every request. */
  query?: Readonly<Record<string, Credential>> | undefined;
  /** `Authorization: Bearer ...` of every request. */
  bearer?: Credential | undefined;
  /** `Authorization: Basic ...` of every request. */
  basic?: BasicCredential | undefined;
}

/** One credential in its place, for one call. */
export interface Placed {
  location: "header" | "query" | "cookie";
  name: string;
  value: string;
}

type Source = (context: CallContext) => Promise<Placed | undefined>;

/** The credentials of a document, ready to be put into requests. */
export class Credentials {
  /** Places that no parameter may have, as `location name`; headers in lower case. */
  readonly places: ReadonlySet<string>;
  readonly #always: readonly Source[];
  readonly #schemes: ReadonlyMap<string, Source>;

  /** @throws {ConfigurationError} for a scheme that the document does not have, and a variable that is not set. */
  constructor(document: ApiDocument, options: CredentialOptions) {
    const components = schemaObject(keyword(document.root, "components")) ?? {};
    const schemes = new Map(
      membersOf(keyword(components, "securitySchemes")).map(([name, scheme]) => [
        name,
        document.resolved(scheme) ?? {},
      ]),
    );
    this.#always = fixedSources(options);
    this.#schemes = schemeSources(schemes, options.auth ?? {});
    const given = [
      ...Object.keys(options.headers ?? {}).map((name) => `header ${name.toLowerCase()}`),
      ...Object.keys(options.query ?? {}).map((name) => `query ${name}`),
    ];
    this.places = new Set([...given, ...[...schemes.values()].flatMap(placesOf)]);
  }

  /**
   * What one call is sent with: the fixed values, and the first alternative of `security` that is complete.
   *
   * @param security alternatives, each an object of scheme names
   */
  async placed(security: readonly unknown[], context: CallContext): Promise<Placed[]> {
    const chosen = security
      .map((alternative) => Object.keys(schemaObject(alternative) ?? {}))
      .find((names) => names.every((name) => this.#schemes.has(name)));
    const sources = (chosen ?? []).flatMap((name) => this.#schemes.get(name) ?? []);
    const all = await Promise.all([...this.#always, ...sources].map((source) => source(context)));
    return all.filter((one) => one !== undefined);
  }
}

/** Where a scheme puts its credential. */
function placesOf(scheme: SchemaObject): string[] {
  if (keyword(scheme, "type") !== "apiKey") return ["header authorization"];
  const [location, name] = [keyword(scheme, "in"), String(keyword(scheme, "name"))];
  return [`${String(location)} ${location === "header" ? name.toLowerCase() : name}`];
}

function fixedSources({ headers, query, bearer, basic }: CredentialOptions): Source[] {
  const at = (location: Placed["location"], values: Readonly<Record<string, Credential>>, option: string): Source[] =>
    Object.entries(values).map(([name, value]) => {
      const read = reader(value, `${option}.${name}`);
      return placing(location, name, read);
    });
  return [
    ...at("header", headers ?? {}, "headers"),
    ...at("query", query ?? {}, "query"),
    ...(bearer === undefined ? [] : [bearerSource(bearer, "bearer")]),
    ...(basic === undefined ? [] : [basicSource(basic, "basic")]),
  ];
}

function schemeSources(
  schemes: ReadonlyMap<string, SchemaObject>,
  auth: NonNullable<CredentialOptions["auth"]>,
): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const [name, credential] of Object.entries(auth)) {
    const scheme = schemes.get(name);
    if (scheme === undefined) throw unknownScheme(name, [...schemes.keys()]);
    sources.set(name, schemeSource(scheme, credential, `auth.${name}`));
  }
  return sources;
}

function unknownScheme(name: string, known: readonly string[]): ConfigurationError {
  const [nearest] = nearestNames(name, known, 1);
  const list = known.length === 0 ? "It has none: use headers, query, bearer or basic." : `It has ${known.join(", ")}.`;
  const hint = nearest === undefined ? list : `Did you mean ${nearest}?`;
  return new ConfigurationError(`auth.${name}: the document has no security scheme of this name. ${hint}`);
}

function schemeSource(scheme: SchemaObject, credential: Credential | BasicCredential, option: string): Source {
  const [type, kind] = [keyword(scheme, "type"), String(keyword(scheme, "scheme")).toLowerCase()];
  const isBasic = type === "basic" || (type === "http" && kind === "basic");
  if (isPair(credential)) {
    if (isBasic) return basicSource(credential, option);
    throw new ConfigurationError(`${option} must be one text: only a basic scheme takes a username and a password.`);
  }
  if (isBasic) return basicText(reader(credential, option));
  if (type !== "apiKey") return bearerSource(credential, option);
  const [location, name] = [keyword(scheme, "in"), keyword(scheme, "name")];
  if (typeof name !== "string" || (location !== "header" && location !== "query" && location !== "cookie")) {
    throw new ConfigurationError(`${option}: the document does not say where this key goes.`);
  }
  return placing(location, name, reader(credential, option));
}

const isPair = (value: Credential | BasicCredential): value is BasicCredential =>
  typeof value === "object" && "username" in value;

type Reader = (context: CallContext) => Promise<string | undefined>;

/** @throws {ConfigurationError} when its environment variable is not set. */
function reader(credential: Credential, option: string): Reader {
  if (typeof credential === "function") return async (context) => credential(context);
  if (typeof credential === "string") return async () => credential;
  const { env } = (credential ?? {}) as { env?: unknown };
  if (typeof env !== "string") throw new ConfigurationError(`${option} must be a text, { env: NAME } or a function.`);
  if (process.env[env] === undefined) {
    throw new ConfigurationError(`${option}: the environment variable ${env} is not set.`);
  }
  return async () => process.env[env];
}

function placing(location: Placed["location"], name: string, read: Reader): Source {
  return async (context) => {
    const value = await read(context);
    return value === undefined ? undefined : { location, name, value };
  };
}

function bearerSource(credential: Credential, option: string): Source {
  const read = reader(credential, option);
  return placing("header", "authorization", async (context) => {
    const token = await read(context);
    return token === undefined ? undefined : `Bearer ${token}`;
  });
}

function basicSource({ username, password }: BasicCredential, option: string): Source {
  const [user, secret] = [reader(username, `${option}.username`), reader(password, `${option}.password`)];
  return basicText(async (context) => {
    const [name, word] = await Promise.all([user(context), secret(context)]);
    return name === undefined || word === undefined ? undefined : `${name}:${word}`;
  });
}

/** @param read gives `user:password` */
function basicText(read: Reader): Source {
  return placing("header", "authorization", async (context) => {
    const text = await read(context);
    return text === undefined ? undefined : `Basic ${Buffer.from(text).toString("base64")}`;
  });
}
