import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { inProcessSandbox } from "../../src/sandbox/quickjs/in-process.js";

const sandbox = inProcessSandbox();

/** What an expression gives in a script, and in Node: both as JSON text, a thrown error as its name. */
async function both(expression: string): Promise<[string, string]> {
  const code = `const run = async () => { try { return await (${expression}) } catch (error) { return "threw " + error.name } };`;
  const result = await sandbox.run(`${code}\nreturn JSON.stringify(await run())`, {});
  if (result.status !== "completed") throw new Error(JSON.stringify(result));
  const inNode: unknown = await (runInThisContext(`(() => { ${code} return run() })()`) as Promise<unknown>);
  return [String(result.value), JSON.stringify(inNode) ?? "undefined"];
}

const URLS: readonly string[] = [
  "https://user:pa%20ss@Example.COM:443/a/./b/../c%2e/%2E%2e/d?x=1&y=a b#frag ment",
  "http://example.com",
  "http://example.com:80/",
  "http://example.com:8080?q",
  "HTTP:\\\\example.com\\a\\b",
  "http:////example.com///a//",
  "https://münchen.de/straße?ü=ö#ä",
  "https://xn--mnchen-3ya.de/",
  "https://例え.テスト/",
  "http://0x7f.1/",
  "http://192.168.257/",
  "http://256.256.256.256/",
  "http://1.2.3.4.5/",
  "http://[::1]:3000/",
  "http://[2001:db8:0:0:1:0:0:1]/",
  "http://[::ffff:192.168.0.1]/",
  "http://[1::2::3]/",
  "http://exa mple.com/",
  "http://example.com:99999/",
  "http://example.com:abc/",
  "https://",
  "mailto:someone@example.com?subject=Hi there",
  "data:text/plain;base64,SGk=",
  "javascript:alert(1)",
  "file:///etc/hostname",
  "file://localhost/C:/a/../b",
  "file:c|/windows",
  "urn:isbn:0451450523",
  "custom://host:1234/path?q#f",
  "custom:/a/b/../c",
  "//no.scheme/path",
  "relative/path",
  "  https://spaced.example/  ",
  "https://ex\tam\nple.com/a\r",
  "https://example.com/%zz%41?%zz='\"<>`{}|^#`<>",
  "https://example.com/🙂?🙂#🙂",
  "https://a@b@example.com/",
  "https://:@example.com/",
  "https://example.com/a;b=c,d:e@f!$&'()*+",
  "wss://example.com:443/socket",
  "ftp://example.com:21/x",
  "http://a.b.c..d/",
  "http://example.com./",
  "https://example.com/..//../a",
  "about:blank",
  "",
  "https",
  ":",
  "http://user@/x",
  "http://%65xample.com/",
  "http://a%00b/",
];

const RELATIVE: readonly [string, string][] = [
  ["../x?y#z", "https://example.com/a/b/c?d#e"],
  ["?q=1", "https://example.com/a/b?c#d"],
  ["#top", "https://example.com/a/b?c#d"],
  ["", "https://example.com/a/b?c#d"],
  ["/root", "https://user:pw@example.com:8443/a/b"],
  ["//other.example/x", "https://example.com/a"],
  ["x/y/", "https://example.com"],
  ["./.././../z", "https://example.com/a/b/c/d"],
  ["https:x", "https://example.com/a/b"],
  ["http:x", "https://example.com/a/b"],
  ["a:b", "https://example.com/"],
  ["#x", "mailto:a@b"],
  ["x", "mailto:a@b"],
  ["..", "custom://h/a/b/c"],
  ["\\a\\b", "https://example.com/c/d"],
];

const PARTS = "['href','origin','protocol','username','password','host','hostname','port','pathname','search','hash']";
const partsOf = (url: string): string =>
  `((u) => ${PARTS}.map((part) => u[part]).concat([...u.searchParams].flat()))(${url})`;

describe("URL", () => {
  it.each(URLS)("reads %j as Node does", async (url) => {
    const [guest, node] = await both(partsOf(`new URL(${JSON.stringify(url)})`));
    expect(guest).toBe(node);
  });

  it.each(RELATIVE)("resolves %j against %j as Node does", async (url, base) => {
    const [guest, node] = await both(partsOf(`new URL(${JSON.stringify(url)}, ${JSON.stringify(base)})`));
    expect(guest).toBe(node);
  });

  it.each([
    "u.searchParams.append('q', 'a b&c')",
    "u.searchParams.delete('x')",
    "u.search = '?z=1&z=2'",
    "u.search = ''",
    "u.hash = 'new hash'",
    "u.hash = ''",
    "u.pathname = 'a/../b c?d'",
    "u.port = '8080'",
    "u.port = '443'",
    "u.port = 'x'",
    "u.host = 'other.example:99'",
    "u.hostname = 'third.example'",
    "u.protocol = 'http'",
    "u.protocol = 'custom'",
    "u.username = 'me@x'",
    "u.password = 'p:w'",
    "u.href = 'http://b.example/?k=v'",
    "u.href = 'nope'",
  ])("changes as Node's does: %s", async (change) => {
    const [guest, node] = await both(
      `(() => { const u = new URL("https://example.com/p/q?x=1&y=2#h"); ${change}; return ${partsOf("u")} })()`,
    );
    expect(guest).toBe(node);
  });
});

describe("in a script as in Node", () => {
  it.each([
    "[URL.canParse('x:y'), URL.canParse('y'), String(URL.parse?.('nope') ?? null), JSON.stringify(new URL('http://a'))]",
    "String(new URLSearchParams('?a=1&b=%20x+y&a=2&&c&=d&e=f=g'))",
    "String(new URLSearchParams({ a: 1, 'b c': 'd&e', ü: '~*-._' }))",
    "String(new URLSearchParams([['a', 1], ['a', '\\ud800']]))",
    "String(new URLSearchParams(new Map([['m', 'v']])))",
    "String(new URLSearchParams(new URLSearchParams('a=1')))",
    "String(new URLSearchParams([['a']]))",
    "((p) => [p.get('a'), p.get('z'), p.getAll('a'), p.has('b'), p.has('a', '2'), p.has('a', '9'), p.size])(new URLSearchParams('a=1&b=2&a=2'))",
    "((p) => { p.set('a', 9); p.append('c', 3); p.delete('b'); p.sort(); return [...p.entries(), ...p.keys(), ...p.values()] })(new URLSearchParams('b=2&a=1&a=2'))",
    "((p) => { const seen = []; p.forEach((v, k) => seen.push(k + v)); return seen })(new URLSearchParams('a=1&b=2'))",
    "[...new TextEncoder().encode('aé€😀\\ud800z')]",
    "new TextEncoder().encodeInto('é€😀', new Uint8Array(6))",
    "new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80]))",
    "new TextDecoder().decode(new Uint8Array([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x41, 0xf0, 0x9f, 0xed, 0xa0, 0x80, 0xc0, 0xaf]))",
    "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]))",
    "new TextDecoder('utf8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length",
    "((d) => [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac, 0x41]))])(new TextDecoder())",
    "new TextDecoder().decode(new Uint16Array([0x6161]).buffer) + new TextDecoder().decode(new DataView(new Uint8Array([1, 0x62, 3]).buffer, 1, 1)) + new TextDecoder().decode()",
    "new TextDecoder('klingon')",
    "[btoa('Hello'), btoa(''), btoa('\\xff\\x00'), atob('SGVsbG8='), atob(' SGVs bG8 '), atob('')]",
    "btoa('€')",
    "atob('a')",
    "atob('!!!!')",
    "structuredClone({ a: [1, { b: new Date(5) }], m: 1n < 2n, u: undefined, n: null })",
    "((o) => { o.self = o; const c = structuredClone(o); return [c !== o, c.self === c, c.m instanceof Map, [...c.s]] })({ m: new Map(), s: new Set([1, 2]) })",
    "structuredClone(() => 1)",
    "((c) => { const seen = []; c.signal.addEventListener('abort', (e) => seen.push(e.type)); c.signal.onabort = () => seen.push('on'); c.abort('why'); c.abort('again'); return [c.signal.aborted, c.signal.reason, seen.sort()] })(new AbortController())",
    "AbortSignal.abort().throwIfAborted()",
    "[AbortSignal.abort('x').reason, AbortSignal.abort().reason.name, AbortSignal.any([AbortSignal.abort(1)]).reason]",
    "new Promise((resolve) => AbortSignal.timeout(5).addEventListener('abort', (e) => resolve(e.target.reason.name)))",
    "new AbortSignal()",
    "((e) => [e.name, e.message, e instanceof Error])(new DOMException('m', 'AbortError'))",
    "[new DOMException().name, new DOMException('x').name]",
    "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
    "((a) => [a === crypto.getRandomValues(a), a.some((x) => x > 0)])(new Uint32Array(32))",
    "crypto.getRandomValues(new Float32Array(1))",
    "crypto.getRandomValues(new Uint8Array(70000))",
    "new Promise((resolve) => { const seen = []; queueMicrotask(() => seen.push('micro')); setTimeout(() => resolve(seen.concat('timer')), 1) })",
    "queueMicrotask(5)",
    "[typeof performance.now(), performance.now() >= 0, performance.now() < 60000]",
    "[String(new URL('a:b')), Object.prototype.toString.call(new URLSearchParams()), URL.name, atob.name, TextDecoder.name, console.log.name]",
  ])("%s", async (expression) => {
    const [guest, node] = await both(expression);
    expect(guest).toBe(node);
  });
});

describe("Array.fromAsync", () => {
  it.each<[string, unknown]>([
    ["Array.fromAsync([1, Promise.resolve(2), 3])", [1, 2, 3]],
    ["Array.fromAsync((async function* () { yield 1; yield 2 })(), (x) => x * 2)", [2, 4]],
    ["Array.fromAsync({ length: 2, 0: 'a', 1: Promise.resolve('b') })", ["a", "b"]],
    ["Array.fromAsync(new Set([1, 2]), async (x, i) => x + i)", [1, 3]],
    ["Array.fromAsync(null).catch((error) => error.name)", "TypeError"],
  ])("%s", async (code, value) => {
    expect(await sandbox.run(code, {})).toMatchObject({ status: "completed", value });
  });
});

describe("random numbers", () => {
  it("differ from run to run and are spread evenly", async () => {
    const code =
      "return [Math.random(), crypto.randomUUID(), Array.from({ length: 4000 }, Math.random).reduce((a, b) => a + b) / 4000]";
    const runs = await Promise.all(Array.from({ length: 20 }, () => sandbox.run(code, {})));
    const values = runs.map((run) => (run as { value: [number, string, number] }).value);
    expect(new Set(values.map(([random]) => random)).size).toBe(20);
    expect(new Set(values.map(([, uuid]) => uuid)).size).toBe(20);
    for (const [, , mean] of values) expect(mean).toBeCloseTo(0.5, 1);
  });
});

describe("performance.now", () => {
  it("counts from the start of the run", async () => {
    await sandbox.run("await sleep(30)", {});
    const result = await sandbox.run("const a = performance.now(); await sleep(20); return [a, performance.now()]", {});
    const [first, second] = (result as { value: [number, number] }).value;
    expect(first).toBeLessThan(20);
    expect(second - first).toBeGreaterThanOrEqual(18);
  });
});
