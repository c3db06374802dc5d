// Usage: npm run bench [-- NAME ...]. Prints what it measures, and the figures as `name=value` in the last lines.
import { cpus } from "node:os";
import { cold } from "./cold.mjs";
import { large } from "./large.mjs";
import { lateness } from "./lateness.mjs";
import { nested } from "./nested.mjs";
import { parallel } from "./parallel.mjs";
import { rss } from "./rss.mjs";
import { pausing } from "./suspend.mjs";
import { trivial } from "./trivial.mjs";

const benches = { trivial, nested, parallel, large, lateness, pausing, rss, cold };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0)
  throw new Error(`Unknown bench ${unknown.join(", ")}; known: ${Object.keys(benches).join(", ")}`);

console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`);
const figures = {};
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) Object.assign(figures, await bench());
}
for (const [name, value] of Object.entries(figures)) console.log(`${name}=${value.toFixed(value < 10 ? 2 : 0)}`);
process.exit(0);
