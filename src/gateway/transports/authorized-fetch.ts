import type { TokenProvider } from "../config.js";
import type { Secrets } from "../secrets.js";

/** An upstream refused the credentials it got. */
export class UpstreamAuthError extends Error {
  override readonly name = "UpstreamAuthError";
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Redirects to the same server are followed this often; credentials never go to another one. */
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

/**
 * A `fetch` that adds an upstream's headers and token. A refused token is renewed once, whoever notices first: requests
 * that were refused together share the renewal.
 */
export class AuthorizedFetch {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #provide: TokenProvider | undefined;
  readonly #secrets: Secrets;
  #token: Promise<string> | undefined;

  constructor(headers: Readonly<Record<string, string>>, provide: TokenProvider | undefined, secrets: Secrets) {
    this.#headers = headers;
    this.#provide = provide;
    this.#secrets = secrets;
  }

  /** @throws {UpstreamAuthError} when the renewed token is refused too, or there is none. */
  readonly fetch: Fetch = async (url, init) => {
    if (this.#provide === undefined) return this.#send(url, init, undefined);
    const used = (this.#token ??= this.#ask(false));
    const response = await this.#send(url, init, await used);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    if (this.#token === used) this.#token = this.#ask(true);
    const again = await this.#send(url, init, await this.#token);
    if (again.status !== 401) return again;
    await again.body?.cancel();
    throw new UpstreamAuthError("the server refused the token, and the renewed one too");
  };

  /** A failure is not kept: the next request asks again. */
  #ask(refresh: boolean): Promise<string> {
    const token = this.#fresh(refresh);
    token.catch(() => {
      if (this.#token === token) this.#token = undefined;
    });
    return token;
  }

  async #fresh(refresh: boolean): Promise<string> {
    let token: unknown;
    try {
      token = await this.#provide?.({ refresh });
    } catch (cause) {
      throw new UpstreamAuthError("the token could not be renewed", { cause });
    }
    if (typeof token !== "string" || token === "") throw new UpstreamAuthError("there is no token for the server");
    this.#secrets.addExpanded(token, "token");
    return token;
  }

  async #send(url: string | URL, init: RequestInit = {}, token: string | undefined): Promise<Response> {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    let target = new URL(url);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(target, { ...init, headers, redirect: "manual" });
      const location = response.headers.get("location");
      if (!REDIRECTS.has(response.status) || location === null || redirects >= MAX_REDIRECTS) return response;
      const next = new URL(location, target);
      if (next.origin !== target.origin) return response;
      await response.body?.cancel();
      target = next;
    }
  }
}
