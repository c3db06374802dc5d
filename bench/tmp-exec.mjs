import { connect } from "./server.mjs";
const { execute } = await connect({ wrapped: true });
const median = (a) => a.toSorted((x, y) => x - y)[a.length >> 1];
const code = process.argv[2] ?? "1+1"; const n = Number(process.argv[3] ?? 5000);
for (let i = 0; i < 100; i++) await execute(code);
const t = [];
for (let i = 0; i < n; i++) { const s = performance.now(); await execute(code); t.push((performance.now() - s) * 1000); }
console.log(median(t).toFixed(1));
process.exit();
