// Scripts of the grammar, attacks in pieces and texts as models send them, against the real sandbox.
import { loadAttacks } from "../attack-bench.mjs";
import { newGrammar } from "./grammar.mjs";
import { mutatedText, shorter } from "./random.mjs";

const attacks = loadAttacks();

function statements(random) {
  const grammar = newGrammar(random);
  const parts = random.list(1, 5, () => {
    if (random.oneIn(6)) return `try { ${random.pick(attacks).code} } catch {}`;
    return grammar.statement(2 + random.below(2));
  });
  if (random.oneIn(2)) parts.push(`return ${grammar.expression(2)}`);
  return random.oneIn(6) ? parts.map((part) => mutatedText(random, part)) : parts;
}

const WRAPS = [
  (code) => code,
  (code) => code,
  (code) => code,
  (code) => `\`\`\`js\n${code}\n\`\`\``,
  (code) => `Here it is:\n\`\`\`typescript\n${code}\n\`\`\`\nDone.`,
  (code) => `async () => {\n${code}\n}`,
  (code) => `async function main() {\n${code}\n}`,
  (code) => code.replaceAll("\n", "\\n"),
];

/** The code of a case. */
export const codeOf = ({ parts, wrap }) => WRAPS[wrap](parts.join("\n"));

export const scripts = {
  name: "scripts",
  make: (random) => ({
    parts: statements(random),
    wrap: random.below(WRAPS.length),
    overflow: random.pick(["error", "truncate"]),
    keepSnapshot: random.oneIn(8),
    abortAfterMs: random.oneIn(12) ? random.below(60) : undefined,
  }),
  *shrink(input) {
    for (const parts of shorter(input.parts)) yield { ...input, parts };
    if (input.wrap !== 0) yield { ...input, wrap: 0 };
    for (const [index, part] of input.parts.entries())
      for (const lines of shorter(part.split(/(?<=[;{}\n])/))) {
        const parts =
          input.parts.with?.(index, lines.join("")) ??
          input.parts.map((old, at) => (at === index ? lines.join("") : old));
        yield { ...input, parts };
      }
  },
  /** Runs the case; then the memory it left, if it was kept. */
  async run(input, bench) {
    const signal = input.abortAfterMs === undefined ? undefined : AbortSignal.timeout(input.abortAfterMs);
    const options = {
      resultOverflow: input.overflow,
      keepSnapshot: input.keepSnapshot,
      ...(signal === undefined ? {} : { signal }),
    };
    const result = await bench.toTheEnd(codeOf(input), options);
    if (result.snapshot !== undefined) await bench.run("return typeof a + typeof f", { from: result.snapshot });
  },
  show: codeOf,
};
