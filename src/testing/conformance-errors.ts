import { type Check, expectKind, expectSame, expectThat } from "./conformance-bench.js";

/** How scripts fail: always as a result, never as a rejection, never as a success. */
export const ERROR_CHECKS: readonly Check[] = [
  {
    name: "reports a script that does not parse as kind syntax",
    async verify(bench) {
      expectKind(await bench.error("const a = ;"), "syntax");
    },
  },
  {
    name: "reports what a script throws with its name and message",
    async verify(bench) {
      const error = await bench.error('const a = 1;\nthrow new TypeError("no such row")');
      expectKind(error, "runtime");
      expectSame(error.name, "TypeError", "error.name");
      expectThat(error.message.includes("no such row"), `the message is lost: ${error.message}`);
    },
  },
  {
    name: "counts lines of the text that was sent",
    async verify(bench) {
      const error = await bench.error("const a = 1;\nconst b = 2;\nnull.foo;");
      if (error.line === undefined) return "does not apply: it reports no lines";
      expectSame(error.line, 3, "error.line");
    },
  },
  {
    name: "reports an error thrown inside an async function before its first await",
    async verify(bench) {
      const error = await bench.error('async function main() { throw new Error("early") }\nreturn main()');
      expectKind(error, "runtime");
      expectThat(error.message.includes("early"), `the message is lost: ${error.message}`);
    },
  },
  {
    name: "reports throw null, throw undefined and thrown text as failures with a message",
    async verify(bench) {
      for (const thrown of ["null", "undefined", '"text"', '""', "new Error()", "Object.create(null)"]) {
        const error = await bench.error(`throw ${thrown}`);
        expectKind(error, "runtime");
        expectThat(error.message !== "", `the message of throw ${thrown} is empty`);
      }
    },
  },
  {
    name: "reports a thrown object whose message getter throws",
    async verify(bench) {
      const code = 'throw Object.defineProperty(new Error("x"), "message", { get() { throw new Error("again") } })';
      expectKind(await bench.error(code), "runtime");
    },
  },
  {
    name: "reports an error named like an engine's own as kind runtime",
    async verify(bench) {
      expectKind(await bench.error('throw new Error("interrupted")'), "runtime");
    },
  },
  {
    name: "reports endless recursion as kind stack and goes on",
    async verify(bench) {
      expectKind(await bench.error("function deep() { return deep() + 1 }\nreturn deep()"), "stack");
      expectSame(await bench.value("return 1"), 1);
    },
  },
  {
    name: "captures console output",
    async verify(bench) {
      const seen: string[] = [];
      const result = await bench.run(
        'if (typeof console === "object") console.log("hello", 42);\nreturn typeof console',
        {
          onLog: ({ text }) => seen.push(text),
        },
      );
      if (result.status === "completed" && result.value !== "object") return "does not apply: it offers no console";
      const text = (result.logs ?? []).map((entry) => entry.text).join("\n");
      expectSame(text, "hello 42", "the captured log");
      expectSame(seen.join("\n"), text, "what onLog got");
    },
  },
  {
    name: "keeps the log of a run that fails",
    async verify(bench) {
      const result = await bench.run('if (typeof console === "object") console.log("before");\nthrow new Error("x")');
      if (result.logs === undefined) return "does not apply: it captures no log";
      expectSame(
        result.logs.map((entry) => entry.text),
        ["before"],
        "the captured log",
      );
    },
  },
];
