import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callOnly, context, documentOf, Loopback, textIn } from "./loopback.js";

const loopback = new Loopback();
beforeAll(() => loopback.start());
afterAll(() => loopback.stop());

const type = (contentType: string) => ({ "content-type": contentType });

describe("successful answers", () => {
  it("in JSON are structured content: objects as they are, all else as result", async () => {
    const answered = async (body: string, contentType = "application/json") =>
      (await loopback.answered({ headers: type(contentType), body })).structuredContent;
    expect(await answered('{"a":1}')).toEqual({ a: 1 });
    expect(await answered("[1]", "application/vnd.api+json; charset=utf-8")).toEqual({ result: [1] });
    expect(await answered("5")).toEqual({ result: 5 });
    expect(await answered('\ufeff{"k":1}')).toEqual({ k: 1 });
    expect(await answered("null")).toBeUndefined();
  });

  it("are wrapped wherever the listed output is, whatever came", async () => {
    const responses = { 200: { content: { "application/json": { schema: { type: "array" } } } } };
    const result = await loopback.answered({ headers: type("application/json"), body: '{"a":1}' }, {}, { responses });
    expect(result.structuredContent).toEqual({ result: { a: 1 } });
  });

  it("without content are nothing", async () => {
    for (const answer of [
      { status: 204 },
      { status: 205 },
      { headers: type("application/json"), body: "" },
      { headers: type("application/json"), body: " \n" },
    ]) {
      expect(await loopback.answered(answer)).toEqual({ content: [] });
    }
    expect(await loopback.answered({ headers: type("application/json"), body: "{}" }, {}, { method: "head" })).toEqual({
      content: [],
    });
  });

  it("in text are text, in the charset that they say", async () => {
    expect(textIn(await loopback.answered({ headers: type("text/csv"), body: "a,b\n1,2" }))).toBe("a,b\n1,2");
    const latin = {
      headers: type('text/plain; charset="iso-8859-1"'),
      bodyBase64: Buffer.from("caf\u00e9", "latin1").toString("base64"),
    };
    expect(textIn(await loopback.answered(latin))).toBe("caf\u00e9");
    expect(textIn(await loopback.answered({ status: 200, body: "no type" }))).toBe("no type");
  });

  it("that only claim to be JSON are text with a note", async () => {
    const { content, isError } = await loopback.answered({ headers: type("application/json"), body: "oops" });
    expect(content).toMatchObject([{ text: "oops" }, { text: expect.stringMatching(/not the JSON/) as string }]);
    expect(isError).toBeUndefined();
  });

  it("in bytes keep every byte", async () => {
    const bodyBase64 = Buffer.from([0, 255, 128, 10]).toString("base64");
    const block = async (contentType: string): Promise<unknown> =>
      ((await loopback.answered({ headers: type(contentType), bodyBase64 })).content as unknown[])[0];
    expect(await block("image/png")).toEqual({ type: "image", data: bodyBase64, mimeType: "image/png" });
    expect(await block("audio/wav")).toEqual({ type: "audio", data: bodyBase64, mimeType: "audio/wav" });
    expect(await block("application/pdf")).toEqual({
      type: "resource",
      resource: { uri: `${loopback.url}/x`, blob: bodyBase64, mimeType: "application/pdf" },
    });
  });
});

describe("answers that say no", () => {
  it("are the tool's own error, with method, path, status, what the server says and its body", async () => {
    const result = await loopback.answered(
      { status: 422, headers: type("application/json"), body: { message: "bad date", errors: [{ field: "from" }] } },
      { query: { key: "the-secret-key" } },
      { path: "/e", method: "post" },
    );
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { status: 422, body: { errors: [{ field: "from" }] } },
    });
    expect(textIn(result)).toBe("POST /e answered 422 Unprocessable Entity: bad date");
  });

  it("are read as problem details", async () => {
    const body = { type: "about:blank", title: "Out of credit", status: 403, detail: "Your balance is 30." };
    const result = await loopback.answered({ status: 403, headers: type("application/problem+json"), body });
    expect(textIn(result)).toBe("GET /x answered 403 Forbidden: Out of credit: Your balance is 30.");
    expect(result.structuredContent).toEqual({ status: 403, body });
  });

  it("say when to try again, and survive odd bodies", async () => {
    const busy = await loopback.answered({ status: 429, headers: { "retry-after": "30" } });
    expect(textIn(busy)).toBe("GET /x answered 429 Too Many Requests. Retry after 30.");
    expect(busy.structuredContent).toEqual({ status: 429, retryAfter: "30" });
    const html = await loopback.answered({ status: 502, headers: type("text/html"), body: "<h1>Bad</h1>" });
    expect(html.structuredContent).toEqual({ status: 502, body: "<h1>Bad</h1>" });
    const bytes = await loopback.answered({ status: 500, headers: type("application/json"), bodyBase64: "/wA=" });
    expect(bytes.isError).toBe(true);
    const nested = await loopback.answered({
      status: 400,
      headers: type("application/json"),
      body: { error: { message: "deep" } },
    });
    expect(textIn(nested)).toContain("deep");
  });
});

describe("limits", () => {
  it("of size: a longer answer is an error that says what to do", async () => {
    const long = { headers: type("text/plain"), body: "x".repeat(1001) };
    const result = await loopback.answered(long, { maxResponseBytes: 1000 });
    expect(result.isError).toBe(true);
    expect(textIn(result)).toMatch(/more than 1000 bytes.*Ask for less/);
    expect(
      textIn(await loopback.answered({ ...long, body: "x".repeat(1000) }, { maxResponseBytes: 1000 })),
    ).toHaveLength(1000);
  });

  it("of size hold for answers that do not tell their length", async () => {
    const fetch = async (): Promise<Response> => {
      const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(500)) });
      return new Response(endless, { headers: type("application/octet-stream") });
    };
    expect(textIn(await loopback.answered({}, { maxResponseBytes: 10_000, fetch }))).toMatch(/more than 10000 bytes/);
  });

  it("of time: the call fails with the kind timeout; a stream gives what came until then", async () => {
    const stalled =
      (contentType: string) =>
      async (_url: string, init: RequestInit): Promise<Response> => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
            init.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
          },
        });
        return new Response(body, { headers: type(contentType) });
      };
    await expect(loopback.answered({}, { timeoutMs: 50, fetch: stalled("text/plain") })).rejects.toMatchObject({
      kind: "timeout",
    });
    const stream = await loopback.answered({}, { timeoutMs: 50, fetch: stalled("text/event-stream") });
    expect(stream.content).toMatchObject([
      { text: "data: 1\n\n" },
      { text: expect.stringMatching(/had not ended/) as string },
    ]);
  });

  it("of the caller: an abort ends the request and its kind is cancelled", async () => {
    const end = new AbortController();
    const source = loopback.source(documentOf({}), {
      fetch: async (_url, init) => {
        const aborted = new Promise<never>((_resolve, reject) => {
          init.signal?.addEventListener("abort", () => reject(new Error("aborted")));
        });
        end.abort();
        return aborted;
      },
    });
    await source.listTools(context());
    await expect(source.callTool("only", {}, context(end.signal))).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("a server that is not there is the tool's own error, without its address", async () => {
    const source = loopback.source(documentOf({}), { baseUrl: "http://127.0.0.1:1" });
    const result = await callOnly(source, {});
    expect(result.isError).toBe(true);
    expect(textIn(result)).toMatch(/^GET \/x could not be sent: /);
    expect(textIn(result)).not.toContain("127.0.0.1");
  });
});
