import { interleaved, median, spread } from "./measure.mjs";
import { connect } from "./server.mjs";

/** 20 parallel calls of a tool that takes 10 ms, in one script and directly. */
export async function parallel() {
  const wrapped = await connect({ wrapped: true });
  const plain = await connect({ wrapped: false });
  const times = await interleaved(
    {
      script: () =>
        wrapped.execute('await Promise.all(Array.from({ length: 20 }, () => call_tool("wait", { ms: 10 })))'),
      direct: () =>
        Promise.all(Array.from({ length: 20 }, () => plain.client.callTool({ name: "wait", arguments: { ms: 10 } }))),
    },
    { rounds: 30, warmUp: 3 },
  );
  console.log(
    `20 parallel calls of 10 ms, us, median (p10-p90): in a script ${spread(times.script)} | direct ${spread(times.direct)}`,
  );
  return { parallel_20x10ms: median(times.script) / 1000 };
}
