import { type Bench, type Check, expectKind, expectSame, expectThat, withinMs } from "./conformance-bench.js";

const SHORT_MS = 300;
const MIB = 1024 * 1024;

/** Fails unless the run ends with kind timeout, not much later than its deadline, and leaves the sandbox usable. */
async function expectTimeout(bench: Bench, code: string): Promise<void> {
  const calls: string[] = [];
  const options = { limits: { timeoutMs: SHORT_MS }, externalFunctions: { touch: () => void calls.push("touch") } };
  expectKind(await bench.error(code, options), "timeout");
  expectSame(calls, [], "calls after the deadline");
  expectSame(await bench.value("return 1"), 1, "the value of the next run");
}

const TIME_CHECKS: readonly Check[] = [
  {
    name: "ends an endless loop at timeoutMs",
    verify: (bench) => expectTimeout(bench, "for (;;) {}"),
  },
  {
    name: "ends an endless loop after an await at timeoutMs",
    verify: (bench) => expectTimeout(bench, "await Promise.resolve();\nfor (;;) {}"),
  },
  {
    name: "ends an endless loop that catches everything",
    verify: (bench) => expectTimeout(bench, "for (;;) { try { for (;;) {} } catch {} finally { continue } }"),
  },
  {
    name: "ends a script that catches its own interrupt in an async function, without a further call",
    verify: (bench) =>
      expectTimeout(bench, "try { await (async () => { for (;;) {} })() } catch {}\nawait touch();\nreturn 'escaped'"),
  },
  {
    name: "ends a script that queues jobs without end",
    verify: (bench) => expectTimeout(bench, "const again = () => Promise.resolve().then(again);\nawait again()"),
  },
  {
    name: "ends a script that has changed the clock",
    verify: (bench) => expectTimeout(bench, "Date.now = () => 0;\nglobalThis.Date = undefined;\nfor (;;) {}"),
  },
  {
    name: "ends a script that waits for a promise nobody settles",
    async verify(bench) {
      // A sandbox may also notice that nothing can settle it.
      expectKind(
        await bench.error("await new Promise(() => {})", { limits: { timeoutMs: SHORT_MS } }),
        "timeout",
        "runtime",
      );
    },
  },
  {
    name: "ends a script that waits for a call nobody answers",
    async verify(bench) {
      const externalFunctions = { never: () => new Promise(() => undefined) };
      expectKind(await bench.error("await never()", { externalFunctions, limits: { timeoutMs: SHORT_MS } }), "timeout");
    },
  },
  ...[
    "{ toJSON() { for (;;) {} } }",
    "{ get a() { for (;;) {} } }",
    "new Proxy({}, { ownKeys() { for (;;) {} } })",
  ].map((value): Check => ({
    name: `ends a script whose value never finishes: ${value}`,
    async verify(bench) {
      await bench.run(`return ${value}`, { limits: { timeoutMs: SHORT_MS } });
      expectSame(await bench.value("return 1"), 1, "the value of the next run");
    },
  })),
];

const SIZE_CHECKS: readonly Check[] = [
  {
    name: "ends a script that needs more than memoryBytes",
    async verify(bench) {
      // Bounded, so that a sandbox without the limit fails the check instead of taking the host down.
      const code =
        "const a = [];\nfor (let i = 0; i < 200000; i++) a.push(String(i).padEnd(1000, 'x'));\nreturn a.length";
      expectKind(await bench.error(code, { limits: { memoryBytes: 32 * MIB, timeoutMs: 8_000 } }), "memory");
      expectSame(await bench.value("return 1"), 1, "the value of the next run");
    },
  },
  {
    name: "refuses a script over maxCodeBytes with kind limit",
    async verify(bench) {
      expectKind(await bench.error(`return 1;${" ".repeat(2_000)}`, { limits: { maxCodeBytes: 1_000 } }), "limit");
    },
  },
  {
    name: "refuses a result over maxResultBytes with kind limit",
    async verify(bench) {
      expectKind(await bench.error("return 'z'.repeat(2000)", { limits: { maxResultBytes: 1_000 } }), "limit");
      expectSame(await bench.value("return 'z'.repeat(900)", { limits: { maxResultBytes: 1_000 } }), "z".repeat(900));
    },
  },
  {
    name: "keeps the captured log within maxLogBytes",
    async verify(bench) {
      const code = "if (typeof console === 'object') for (let i = 0; i < 500; i++) console.log('line ' + i);\nreturn 1";
      const result = await bench.run(code, { limits: { maxLogBytes: 1_000 } });
      if (result.logs === undefined) return "does not apply: it captures no log";
      const bytes = result.logs.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      expectThat(bytes < 1_500, `500 lines gave a log of ${bytes} bytes under maxLogBytes 1000`);
    },
  },
];

const SIGNAL_CHECKS: readonly Check[] = [
  {
    name: "ends a run whose signal aborts with kind cancelled",
    async verify(bench) {
      const controller = new AbortController();
      const externalFunctions = {
        wait: () => (queueMicrotask(() => controller.abort()), new Promise(() => undefined)),
      };
      const run = bench.error("await wait()", { externalFunctions, signal: controller.signal });
      expectKind(await withinMs(2_000, run), "cancelled");
    },
  },
  {
    name: "ends a run whose signal has aborted already with kind cancelled",
    async verify(bench) {
      const run = bench.error("for (;;) {}", { signal: AbortSignal.abort() });
      expectKind(await withinMs(2_000, run), "cancelled");
    },
  },
];

/** What ends a run that does not end by itself. */
export const LIMIT_CHECKS: readonly Check[] = [...TIME_CHECKS, ...SIZE_CHECKS, ...SIGNAL_CHECKS];
