import { interleaved, median, ratio, spread } from "./measure.mjs";
import { connect } from "./server.mjs";

const CALLS = 100;
const SCRIPT = `let sum = 0; for (let i = 0; i < ${CALLS}; i++) sum += (await call_tool("add", { a: i, b: 1 })).result; sum`;

/** 100 calls of one tool in one script against 100 direct calls of a client on the same, unwrapped server. */
export async function nested() {
  const wrapped = await connect({ wrapped: true });
  const plain = await connect({ wrapped: false });
  const variants = {
    nested: () => wrapped.execute(SCRIPT),
    direct: async () => {
      for (let i = 0; i < CALLS; i++) await plain.client.callTool({ name: "add", arguments: { a: i, b: 1 } });
    },
  };
  const busy = await interleaved(variants, { rounds: 5, warmUp: 1, block: 20 });
  const rested = await interleaved(variants, { rounds: 40, warmUp: 2, restMs: 20 });
  const perCall = (times) => times.map((time) => time / CALLS);
  console.log(
    `one call, us, median (p10-p90): nested ${spread(perCall(busy.nested))} | direct ${spread(perCall(busy.direct))}`,
  );
  console.log(
    `  after 20 ms rests: nested ${spread(perCall(rested.nested))} | direct ${spread(perCall(rested.direct))}`,
  );
  return {
    nested_us: median(perCall(busy.nested)),
    direct_us: median(perCall(busy.direct)),
    nested_vs_direct: ratio(busy.nested, busy.direct),
    nested_vs_direct_rested: ratio(rested.nested, rested.direct),
  };
}
