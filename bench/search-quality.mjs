// Quality and speed of the default search strategy beyond recall: names in other spellings, time to index, stalls.
//   node bench/search-quality.mjs [--data ../shared/search-bench]
// Last lines are name=value. Times are of this machine; the stall is the longest time in which nothing else could run.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { createSearch, toTools } from "./search-adapter.mjs";

const built = process.env.SEARCH_MODULE
  ? pathToFileURL(process.env.SEARCH_MODULE).href
  : new URL("../dist/search.js", import.meta.url).href;
const { bm25 } = await import(built);

const at = process.argv.indexOf("--data");
const data =
  at > 0 ? pathToFileURL(process.argv[at + 1] + "/") : new URL("../../shared/search-bench/", import.meta.url);
if (!existsSync(data)) {
  console.log(`no benchmark data at ${data.pathname}: pass --data DIR`);
  process.exit(0);
}
const read = (path) => JSON.parse(readFileSync(new URL(path, data), "utf8"));
const CATALOGS = ["livemcp", "metatool", "stabletoolbench", "bfcl"];
const SETS = {
  livemcp: ["livemcp-tasks", "livemcp-steps", "livemcp-llmqueries"],
  metatool: ["metatool-single", "metatool-multi"],
  stabletoolbench: ["stabletoolbench"],
  bfcl: ["bfcl"],
};
const catalogs = new Map(CATALOGS.map((name) => [name, read(`catalogs/${name}.json`).tools]));
const report = [];
const print = (name, value) => report.push(`${name}=${value}`);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Recall@5 of both halves: weights were tuned on the first, chosen by a hash of the task or question. */
async function halves() {
  const recalls = [[], []];
  for (const [catalog, sets] of Object.entries(SETS)) {
    const engine = await createSearch(structuredClone(catalogs.get(catalog)));
    for (const set of sets) {
      const found = [[], []];
      for (const { text, task, relevant } of read(`queries/${set}.json`).queries) {
        const half =
          createHash("sha1")
            .update(task ?? text)
            .digest()[0] & 1;
        const ids = new Set(await engine.search(text, 5));
        found[half].push(relevant.filter((id) => ids.has(id)).length / relevant.length);
      }
      found.forEach((values, half) => recalls[half].push(100 * mean(values)));
    }
  }
  print("tuned_half_recall_at_5", mean(recalls[0]).toFixed(1));
  print("held_out_half_recall_at_5", mean(recalls[1]).toFixed(1));
}

const camelCased = (name) =>
  name
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => (next ?? "").toUpperCase())
    .replace(/^./, (first) => first.toLowerCase());
const words = (name) =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .join(" ")
    .toLowerCase()
    .trim();

/** One letter dropped, doubled, replaced or swapped, the place and kind chosen by a hash of the name. */
function misspelt(name) {
  const [kind, place] = createHash("sha1").update(name).digest();
  const letters = [...name];
  const spots = letters.flatMap((letter, index) =>
    /[a-z]/i.test(letter) && index > 0 && index < letters.length - 1 ? [index] : [],
  );
  const spot = spots[place % spots.length];
  if (spot === undefined) return name;
  if (kind % 4 === 0) letters.splice(spot, 1);
  else if (kind % 4 === 1) letters.splice(spot, 0, letters[spot]);
  else if (kind % 4 === 2) letters[spot] = letters[spot] === "x" ? "y" : "x";
  else [letters[spot], letters[spot + 1]] = [letters[spot + 1], letters[spot]];
  return letters.join("");
}

/** The share of tools that come first when their name is asked for in some spelling; a namesake counts as well. */
async function spellings() {
  const tools = catalogs.get("livemcp").filter(({ name }) => name.length >= 5);
  const engine = await createSearch(structuredClone(catalogs.get("livemcp")));
  const byId = new Map(tools.map((tool) => [tool.id, tool.name]));
  const forms = {
    exact: (name) => name,
    as_words: words,
    camel_cased: camelCased,
    one_typo: misspelt,
    joined: (name) => words(name).replaceAll(" ", ""),
  };
  for (const [form, spell] of Object.entries(forms)) {
    let hits = 0;
    for (const { name } of tools) {
      const [first] = await engine.search(spell(name), 1);
      if (byId.get(first) === name) hits += 1;
    }
    print(`${form}_hit_at_1`, ((100 * hits) / tools.length).toFixed(1));
  }
}

/** That many tools with contents of their own: the catalogs, then copies that differ in name, server and one word. */
function manyTools(count) {
  const all = CATALOGS.flatMap((name) => toTools(structuredClone(catalogs.get(name))));
  return Array.from({ length: count }, (_, index) => {
    const round = Math.floor(index / all.length);
    const tool = all[index % all.length];
    return round === 0
      ? tool
      : { ...tool, name: `${tool.name}_${round}`, description: `${tool.description ?? ""} mirror${index}` };
  });
}

async function speed(count) {
  const strategy = bm25();
  const tools = manyTools(count);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  delay.enable();
  const started = performance.now();
  await strategy.index(tools);
  print(`index_ms_${count}`, (performance.now() - started).toFixed(0));
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  print(`longest_stall_ms_${count}`, (delay.max / 1e6).toFixed(1));
  const queries = [...read("queries/livemcp-llmqueries.json").queries, ...read("queries/livemcp-steps.json").queries];
  for (const { text } of queries) await strategy.search({ query: text, limit: 10 }, tools);
  const asked = performance.now();
  for (const { text } of queries) await strategy.search({ query: text, limit: 10 }, tools);
  print(`ms_per_query_${count}`, ((performance.now() - asked) / queries.length).toFixed(2));
  const changed = tools.map((tool, index) => (index === 7 ? { ...tool, description: "changed" } : tool));
  const again = performance.now();
  await strategy.index(changed);
  print(`reindex_one_change_ms_${count}`, (performance.now() - again).toFixed(0));
}

await speed(1_000);
await speed(9_000);
await spellings();
await halves();
console.log(report.join("\n"));
