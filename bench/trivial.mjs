import { newQuickJSWASMModule } from "quickjs-emscripten";
import { quickJsSandbox } from "mcp-codemode";
import { interleaved, median, ratio, spread } from "./measure.mjs";
import { connect } from "./server.mjs";

/** A script that computes 1 + 1: through the provider, through an MCP client, and in a new runtime and context each time. */
export async function trivial() {
  const sandbox = quickJsSandbox();
  const { execute } = await connect({ wrapped: true });
  const quickjs = await newQuickJSWASMModule();
  const fresh = () => {
    const runtime = quickjs.newRuntime();
    const context = runtime.newContext();
    context.unwrapResult(context.evalCode("1 + 1")).dispose();
    context.dispose();
    runtime.dispose();
  };
  const variants = { provider: () => sandbox.run("1 + 1", {}), client: () => execute("1 + 1"), fresh };
  const times = await interleaved(variants, { rounds: 4, warmUp: 1, block: 400 });
  const rested = await interleaved(variants, { rounds: 40, warmUp: 2, restMs: 20 });
  console.log(
    `1 + 1, us, median (p10-p90): provider ${spread(times.provider)} | through the client ${spread(times.client)} | new runtime and context each time ${spread(times.fresh)}`,
  );
  console.log(
    `  after 20 ms rests: provider ${spread(rested.provider)} | through the client ${spread(rested.client)} | new runtime and context ${spread(rested.fresh)}`,
  );
  return {
    trivial_us: median(times.provider),
    trivial_client_us: median(times.client),
    vs_fresh_context: 1 / ratio(times.provider, times.fresh),
    trivial_rested_us: median(rested.provider),
  };
}
