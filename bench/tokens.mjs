// Tokens of a page of five tools in each form against compact JSON, over real catalogs: node bench/tokens.mjs [DIRECTORY]
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { gradedSerializer, markdownSerializer, measure, typescriptSerializer } from "mcp-codemode";
import { median } from "./measure.mjs";

const PAGES = 30;
const PAGE_SIZE = 5;
/** Tools on a graded page that are shown whole. */
const WHOLE_TOOLS = 2;

const directory = process.argv[2] ?? fileURLToPath(new URL("../../shared/catalogs/", import.meta.url));
if (!existsSync(directory)) {
  console.error(`No catalogs in ${directory}: give a directory of JSON files, each a list of tools.`);
  process.exit(1);
}

const graded = gradedSerializer();
const typescript = typescriptSerializer();
const markdown = markdownSerializer();
const FORMS = {
  graded: (page, context) => graded(page, context),
  compact: (page, context) => graded(page, { ...context, detail: "full" }),
  signature: (page, context) => typescript(page, context),
  brief: (page, context) => graded(page, { ...context, detail: "brief" }),
  markdown: (page, context) => markdown(page, context),
};

const tokens = (text) => encode(text).length;

/** Repeatable: the same pages in every run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomPages(tools, seed) {
  const next = randomNumbers(seed);
  return Array.from({ length: PAGES }, () => {
    const pool = [...tools];
    const size = Math.min(PAGE_SIZE, pool.length);
    return Array.from({ length: size }, () => pool.splice(Math.floor(next() * pool.length), 1)[0]);
  });
}

async function measureCatalog(file, seed) {
  const tools = JSON.parse(readFileSync(`${directory}/${file}`, "utf8"));
  const pages = randomPages(tools, seed);
  const sums = Object.fromEntries(Object.keys(FORMS).map((form) => [form, 0]));
  let json = 0;
  let whole = 0;
  for (const page of pages) {
    json += tokens(JSON.stringify(page));
    const context = { total: tools.length };
    for (const [form, print] of Object.entries(FORMS)) sums[form] += tokens(await print(page, context));
    if (await showsBestWhole(page, context)) whole++;
  }
  const fewer = Object.fromEntries(Object.entries(sums).map(([form, sum]) => [form, 100 * (1 - sum / json)]));
  const source = { listTools: async () => tools, callTool: async () => ({}) };
  const { toolsList, metaTools } = await measure(source, { countTokens: tokens });
  return {
    file: file.replace(/\.json$/, ""),
    tools: tools.length,
    toolsList,
    metaTools,
    json: json / PAGES,
    fewer,
    whole,
  };
}

/** True when the text of the best tools in compact form is on the graded page. */
async function showsBestWhole(page, context) {
  const best = await graded(page.slice(0, WHOLE_TOOLS), { ...context, detail: "full" });
  return (await graded(page, context)).startsWith(best);
}

const percent = (number) => `${number.toFixed(1).padStart(6)} %`;
const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
const rows = [];
console.log(
  `${"catalog".padEnd(16)} tools   list   meta  top5 | fewer tokens: ${Object.keys(FORMS)
    .map((form) => form.padStart(8))
    .join(" ")} | whole`,
);
for (const [index, file] of files.entries()) {
  const row = await measureCatalog(file, index + 1);
  rows.push(row);
  const numbers = [row.tools, row.toolsList, row.metaTools, Math.round(row.json)].map((number) =>
    String(number).padStart(6),
  );
  console.log(
    `${row.file.padEnd(16)}${numbers.join(" ")} |               ${Object.values(row.fewer).map(percent).join(" ")} | ${row.whole}/${PAGES}`,
  );
}
const middle = (form) => median(rows.map(({ fewer }) => fewer[form]));
console.log(
  `median over ${rows.length} catalogs, ${PAGES} pages each, top ${PAGE_SIZE}, o200k_base, against the JSON of tools/list`,
);
for (const form of ["brief", "markdown"]) console.log(`${form}_top5=${middle(form).toFixed(1)}`);
for (const form of ["graded", "compact", "signature"]) console.log(`${form}_top5=${middle(form).toFixed(1)}`);
const pages = rows.length * PAGES;
console.log(`lossless_pages=${((100 * rows.reduce((sum, { whole }) => sum + whole, 0)) / pages).toFixed(1)}`);
