import { quickJsSandbox, suspend } from "mcp-codemode/sandbox";
import { median, spread } from "./measure.mjs";

const ROUNDS = 30;
const SCRIPTS = {
  small: "const answer = await ask('go on?'); return answer",
  large:
    "const rows = []; for (let i = 0; i < 60000; i++) rows.push({ id: i, name: 'row number ' + i, tag: 't' + (i * 7919) % 1000, v: i * 1.37 }); await ask('go on?'); return rows.length",
};

/** Time from the script's call to the paused result, and from the answer to the end of the script. */
export async function pausing() {
  const sandbox = quickJsSandbox();
  const figures = {};
  for (const [name, code] of Object.entries(SCRIPTS)) {
    const suspendUs = [];
    const resumeUs = [];
    let bytes = 0;
    for (let round = -3; round < ROUNDS; round++) {
      let calledAt = 0;
      const externalFunctions = {
        ask: () => {
          calledAt = performance.now();
          throw suspend();
        },
      };
      const paused = await sandbox.run(code, { externalFunctions });
      const pausedAt = performance.now();
      const { snapshot, pending } = paused;
      const result = await sandbox.resume(
        snapshot,
        pending.map(({ id }) => ({ id, value: true })),
        { externalFunctions },
      );
      const endedAt = performance.now();
      if (result.status !== "completed") throw new Error(JSON.stringify(result));
      bytes = snapshot.length;
      if (round < 0) continue;
      suspendUs.push((pausedAt - calledAt) * 1000);
      resumeUs.push((endedAt - pausedAt) * 1000);
    }
    console.log(
      `pause and resume, ${name} script, us, median (p10-p90): pause ${spread(suspendUs)} | resume ${spread(resumeUs)} | ${(bytes / 1024).toFixed(1)} KB`,
    );
    const suffix = name === "small" ? "" : `_${name}`;
    figures[`suspend_ms${suffix}`] = median(suspendUs) / 1000;
    figures[`resume_ms${suffix}`] = median(resumeUs) / 1000;
    figures[`snapshot_kb${suffix}`] = bytes / 1024;
  }
  return figures;
}
