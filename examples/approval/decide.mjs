// Process B: what a page or a command line of the host does. It lists the runs that wait, allows the call, and goes on.
import { callMeta, openEngine } from "./engine.mjs";

const { engine, close } = await openEngine();
let [, , run] = process.argv;
for (const paused of await engine.runs()) {
  run = paused.run;
  for (const { callId, tool, arguments: args, reason } of paused.pending) {
    console.log(`allowing ${tool} ${JSON.stringify(args)} (${reason})`);
    await engine.decide(run, callId, { action: "allow" });
  }
  console.log(await callMeta(engine, "resume", { run }));
}
console.log(await callMeta(engine, "resume", { run }));
await close();
