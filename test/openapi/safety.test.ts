import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createCodeMode } from "../../src/create-code-mode.js";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";
import { openApiSource } from "../../src/openapi.js";
import { callOnly, context, documentOf, Loopback, textIn, type OneOperation } from "./loopback.js";

const loopback = new Loopback();
const elsewhere = new Loopback();
beforeAll(() => Promise.all([loopback.start(), elsewhere.start()]));
afterAll(() => Promise.all([loopback.stop(), elsewhere.stop()]));
afterEach(() => {
  delete process.env["TEST_API_KEY"];
});

const schemes = {
  head: { type: "apiKey", in: "header", name: "X-Key" },
  inQuery: { type: "apiKey", in: "query", name: "key" },
  inCookie: { type: "apiKey", in: "cookie", name: "session" },
  token: { type: "http", scheme: "Bearer" },
  pair: { type: "http", scheme: "basic" },
  oauth: { type: "oauth2", flows: {} },
};
const secured = (security: unknown, more: OneOperation = {}): OneOperation => ({
  security,
  components: { securitySchemes: schemes },
  ...more,
});

describe("credentials", () => {
  it("go where their scheme says", async () => {
    const sent = async (security: object, auth: Record<string, never>) =>
      loopback.sent(secured([security]), {}, { auth });
    const all = { head: "h-1", inQuery: "q&1", inCookie: "c-1" } as never;
    const keys = await sent({ head: [], inQuery: [], inCookie: [] }, all);
    expect(keys.headers).toMatchObject({ "x-key": "h-1", cookie: "session=c-1" });
    expect(keys.query.get("key")).toEqual(["q&1"]);
    const authorization = async (scheme: string, value: unknown) =>
      (await sent({ [scheme]: [] }, { [scheme]: value } as never)).headers.authorization;
    expect(await authorization("token", "t-1")).toBe("Bearer t-1");
    expect(await authorization("oauth", "t-2")).toBe("Bearer t-2");
    expect(await authorization("pair", { username: "u", password: "p:\u00e9" })).toBe(
      `Basic ${Buffer.from("u:p:\u00e9").toString("base64")}`,
    );
    expect(await authorization("pair", "u:p")).toBe(`Basic ${Buffer.from("u:p").toString("base64")}`);
  });

  it("are those of the first alternative that is complete, and none where none is asked for", async () => {
    const headers = async (security: unknown) =>
      (await loopback.sent(secured(security), {}, { auth: { head: "h-1", token: "t-1" } })).headers;
    expect(await headers([{ pair: [] }, { head: [], inQuery: [] }, { token: [] }])).toMatchObject({
      authorization: "Bearer t-1",
    });
    expect(await headers([])).not.toHaveProperty("authorization");
    expect(await headers([{}, { token: [] }])).not.toHaveProperty("authorization");
  });

  it("come from the environment or from a function that sees the caller", async () => {
    process.env["TEST_API_KEY"] = "from-the-environment";
    const operation = secured([{ head: [], token: [] }]);
    const source = loopback.source(documentOf(operation), {
      auth: { head: { env: "TEST_API_KEY" }, token: async ({ callerId }) => `of-${callerId}` },
    });
    await source.listTools(context());
    await source.callTool("only", {}, { ...context(), callerId: "ada" });
    expect(loopback.last.headers).toMatchObject({ "x-key": "from-the-environment", authorization: "Bearer of-ada" });
  });

  it("may be said without a scheme", async () => {
    const options = { headers: { "X-Version": "7" }, query: { tenant: "t" }, bearer: "b-1" };
    const request = await loopback.sent({}, {}, options);
    expect(request.headers).toMatchObject({ "x-version": "7", authorization: "Bearer b-1" });
    expect(request.query.get("tenant")).toEqual(["t"]);
    const basic = await loopback.sent({}, {}, { basic: { username: "u", password: "p" } });
    expect(basic.headers.authorization).toBe("Basic dTpw");
  });

  it("that are missing or unknown fail the import, by name", async () => {
    const load = (auth: never) => openApiSource(documentOf(secured([])), { auth }).load();
    await expect(load({ haed: "x" } as never)).rejects.toThrow(/auth\.haed.*Did you mean head/);
    await expect(load({ head: { env: "NOT_SET_ANYWHERE" } } as never)).rejects.toThrow(/NOT_SET_ANYWHERE is not set/);
    await expect(load({ head: { username: "u", password: "p" } } as never)).rejects.toThrow(/only a basic scheme/);
    await expect(openApiSource(documentOf({}), { auth: { any: "x" } }).load()).rejects.toThrow(/It has none.*bearer/);
  });

  it("cannot be seen or replaced by arguments, in whatever way these are spelt", async () => {
    const parameters = [
      { name: "X-KEY", in: "header", schema: { type: "string" } },
      { name: "key", in: "query", required: true, schema: { type: "string" } },
      { name: "session", in: "cookie", schema: { type: "string" } },
      { name: "authorization", in: "header", schema: { type: "string" } },
      { name: "free", in: "query", schema: { type: "object" } },
      { name: "jar", in: "cookie", schema: { type: "object" } },
    ];
    const operation = secured([{ head: [], inQuery: [], inCookie: [] }], { parameters });
    const auth = { head: "h-1", inQuery: "q-1", inCookie: "c-1" };
    const { tools } = await loopback.source(documentOf(operation), { auth }).load();
    expect(Object.keys(tools[0]?.inputSchema["properties"] as object)).toEqual(["free", "jar"]);
    const evil = { "X-KEY": "e", "x-key": "e", key: "e", session: "e", authorization: "e" };
    const request = await loopback.sent(
      operation,
      { ...evil, free: { key: "e", a: "b" }, jar: { session: "e", j: "1" } },
      { auth },
    );
    expect(request.headers).toMatchObject({ "x-key": "h-1", cookie: "j=1; session=c-1" });
    expect(request.headers).not.toHaveProperty("authorization");
    expect(Object.fromEntries(request.query)).toEqual({ a: ["b"], key: ["q-1"] });
  });

  it("are hidden where the server sends them back, also in errors, and never stand in an address", async () => {
    const auth = { token: "secret-token-1", inQuery: "secret key/2" };
    const operation = secured([{ token: [], inQuery: [] }]);
    const echo = 'Bearer secret-token-1 at /x?key=secret%20key%2F2 is "secret key/2"';
    const ok = await loopback.answered({ headers: { "content-type": "text/plain" }, body: echo }, { auth }, operation);
    const no = await loopback.answered(
      { status: 401, headers: { "content-type": "text/plain" }, body: echo },
      { auth },
      operation,
    );
    const bytes = await loopback.answered(
      { headers: { "content-type": "application/pdf" }, body: "x" },
      { auth },
      operation,
    );
    const away = await loopback.answered(
      { status: 302, headers: { location: "http://e.example/?key=secret%20key%2F2" } },
      { auth },
      operation,
    );
    for (const result of [ok, no, bytes, away]) expect(JSON.stringify(result)).not.toMatch(/secret/);
  });

  it("that no header can hold fail without being quoted", async () => {
    const source = loopback.source(documentOf({}), { bearer: "secret\nvalue" });
    const error: unknown = await callOnly(source, {}).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/authorization/i);
    expect(String(error)).not.toMatch(/secret/);
  });

  it("stay out of everything that a script or a search can show", async () => {
    loopback.api.reset([{ status: 400, headers: { "content-type": "application/json" }, body: { error: "no" } }]);
    const operation = secured([{ head: [] }], { parameters: [{ name: "X-Key", in: "header", schema: {} }] });
    const source = loopback.source(documentOf(operation), { auth: { head: "secret-key-1" } });
    const engine = createCodeMode(source, { sandboxProvider: inProcessSandbox() });
    const found = await engine.search({ query: "only" });
    const outcome = await engine.execute({ code: "await call_tool('only', { 'X-Key': 'mine' })" });
    expect(JSON.stringify([found, outcome])).not.toMatch(/secret-key-1/);
    expect(outcome).toMatchObject({ status: "failed", error: { kind: "validation" } });
    await engine.close();
  });
});

describe("redirects", () => {
  const to = (location: string, status = 302) => ({ status, headers: { location }, body: "" });
  const follow = async (answers: object[], operation: OneOperation = {}, args = {}) => {
    loopback.api.reset(answers);
    elsewhere.api.reset([{}]);
    return callOnly(loopback.source(documentOf(operation), { bearer: "b-secret-1" }), args);
  };

  it("on the same host are followed, with method and body as the status says", async () => {
    const body = {
      method: "post",
      requestBody: { content: { "application/json": { schema: { type: "object", properties: { a: {} } } } } },
    };
    const paths = () =>
      loopback.api.requests.map(({ method, path, body: sent }) => `${method} ${path} ${sent.toString()}`);
    await follow([to("/new", 307), {}], body, { a: 1 });
    expect(paths()).toEqual(['POST /x {"a":1}', 'POST /new {"a":1}']);
    await follow([to("/new", 303), {}], body, { a: 1 });
    expect(paths()).toEqual(['POST /x {"a":1}', "GET /new "]);
    await follow([to("new"), {}]);
    expect(paths()).toEqual(["GET /x ", "GET /new "]);
    expect(loopback.last.headers.authorization).toBe("Bearer b-secret-1");
  });

  it.each(["elsewhere", "//127.0.0.1:1/", "http://localhost/", "file:///etc/passwd", "http://[bad"])(
    "to another host are not followed, and nothing is sent there: %s",
    async (location) => {
      const result = await follow([to(location === "elsewhere" ? `${elsewhere.url}/steal` : location)]);
      expect(result).toMatchObject({ isError: true, structuredContent: { status: 302 } });
      expect(textIn(result)).toMatch(/redirect.*not followed/);
      expect(elsewhere.api.requests).toEqual([]);
      expect(loopback.api.requests).toHaveLength(1);
    },
  );

  it("in a circle end", async () => {
    const result = await follow([to("/x")]);
    expect(textIn(result)).toMatch(/more than 5 times/);
    expect(loopback.api.requests).toHaveLength(6);
  });

  it("without a place are errors", async () => {
    expect(await follow([{ status: 302, body: "" }])).toMatchObject({
      isError: true,
      structuredContent: { status: 302 },
    });
  });
});

describe("servers", () => {
  const urlOf = async (servers: unknown, options: object = {}, operation: OneOperation = {}): Promise<string> => {
    let asked = "";
    const fetch = async (url: string): Promise<Response> => {
      asked = url;
      return new Response(null, { status: 204 });
    };
    const document = { ...documentOf(operation), servers };
    await callOnly(openApiSource(document, { fetch, ...options }), {});
    return asked;
  };

  it("are those of the operation, else of the document; baseUrl wins", async () => {
    expect(await urlOf([{ url: "https://a.example/api/" }])).toBe("https://a.example/api/x");
    expect(await urlOf([{ url: "https://a.example" }], {}, { servers: [{ url: "https://b.example/v9?k=1" }] })).toBe(
      "https://b.example/v9/x?k=1",
    );
    expect(await urlOf([{ url: "https://a.example" }], { baseUrl: "http://c.example/d/" })).toBe(
      "http://c.example/d/x",
    );
    expect(await urlOf([{ url: "/api" }], { specUrl: "https://d.example/docs/openapi.json" })).toBe(
      "https://d.example/api/x",
    );
    expect(await urlOf([{ url: "api" }], { specUrl: "https://d.example/docs/openapi.json" })).toBe(
      "https://d.example/docs/api/x",
    );
    expect(await urlOf(undefined, { specUrl: "https://d.example/docs/openapi.json" })).toBe("https://d.example/x");
  });

  it("have variables: the document's value, or one of the option that its enum allows", async () => {
    const servers = [
      {
        url: "https://{region}.example/{v}",
        variables: { region: { default: "eu", enum: ["eu", "us"] }, v: { default: "v1" } },
      },
    ];
    expect(await urlOf(servers)).toBe("https://eu.example/v1/x");
    expect(await urlOf(servers, { serverVariables: { region: "us" } })).toBe("https://us.example/v1/x");
    await expect(urlOf(servers, { serverVariables: { region: "mars" } })).rejects.toThrow(
      /region must be one of eu, us/,
    );
    await expect(urlOf([{ url: "https://{none}.example" }])).rejects.toThrow(/"none".*serverVariables/);
  });

  it("that cannot be used fail the import with what to do", async () => {
    await expect(urlOf([])).rejects.toThrow(/no server.*baseUrl/);
    await expect(urlOf([{ url: "/api" }])).rejects.toThrow(/baseUrl.*specUrl/);
    await expect(urlOf([{ url: "ftp://a.example" }])).rejects.toThrow(/http or https/);
    await expect(urlOf([{ url: "https://u:p@a.example" }])).rejects.toThrow(/option basic/);
  });

  it("keep a query that the document has in a path", async () => {
    expect(await urlOf([{ url: "https://a.example" }], {}, { path: "/x?action=list#one" })).toBe(
      "https://a.example/x?action=list",
    );
  });
});
