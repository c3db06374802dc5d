import { interleaved, median, ratio, spread } from "./measure.mjs";
import { connect, rows } from "./server.mjs";

/** A tool result of 1 MB, filtered in the script, against JSON.parse of the same text here. */
export async function large() {
  const { execute } = await connect({ wrapped: true });
  const text = JSON.stringify({ rows: rows() });
  const times = await interleaved(
    {
      script: () =>
        execute(
          'const { rows } = await call_tool("rows", {}); rows.filter((row) => row.id % 1000 === 7).map((row) => row.name)',
        ),
      parse: () => void JSON.parse(text),
    },
    { rounds: 30, warmUp: 5 },
  );
  console.log(
    `${(text.length / 1e6).toFixed(2)} MB result, us, median (p10-p90): filtered in a script ${spread(times.script)} | JSON.parse in Node ${spread(times.parse)}`,
  );
  return { one_mb_ms: median(times.script) / 1000, one_mb_vs_parse: ratio(times.script, times.parse) };
}
