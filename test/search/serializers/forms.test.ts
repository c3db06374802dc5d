import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/catalog/tool.js";
import { gradedSerializer } from "../../../src/search/serializers/graded.js";
import { jsonSerializer } from "../../../src/search/serializers/json.js";
import { markdownSerializer } from "../../../src/search/serializers/markdown.js";
import { briefList } from "../../../src/search/serializers/brief.js";
import type { Detail, SearchResultSerializer } from "../../../src/search/serializers/serializer.js";
import { estimateTokens } from "../../../src/search/serializers/token-estimate.js";
import { typescriptSerializer } from "../../../src/search/serializers/typescript.js";

const SERIALIZERS: Record<string, SearchResultSerializer> = {
  graded: gradedSerializer(),
  json: jsonSerializer(),
  markdown: markdownSerializer(),
  typescript: typescriptSerializer(),
};
const DETAILS: (Detail | undefined)[] = [undefined, "brief", "signature", "detailed", "full"];
const FORMS = Object.entries(SERIALIZERS).flatMap(([name, serializer]) =>
  DETAILS.map((detail) => ({ form: `${name} ${detail ?? "by default"}`, serializer, detail })),
);

const catalogs = new URL("../../../../shared/catalogs/", import.meta.url);
const files = existsSync(catalogs) ? readdirSync(catalogs).filter((file) => file.endsWith(".json")) : [];
const read = (file: string): Tool[] => JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as Tool[];

describe.skipIf(files.length === 0)("every tool of the real catalogs (skipped where ../shared is missing)", () => {
  it.each(FORMS)(
    "prints as $form, alone and on a page, whole and in bounded time",
    async ({ serializer, detail }) => {
      for (const file of files) {
        const tools = read(file);
        for (let at = 0; at < tools.length; at += 8) {
          const page = tools.slice(at, at + 8);
          const start = performance.now();
          const printed = await serializer(page, { total: tools.length, ...(detail === undefined ? {} : { detail }) });
          expect(performance.now() - start).toBeLessThan(1_500);
          const text = typeof printed === "string" ? printed : JSON.stringify(printed);
          expect(page.filter(({ name }) => !text.includes(name) && !text.includes(name.replaceAll("-", "_")))).toEqual(
            [],
          );
          expect(text).not.toContain("[object Object]");
        }
      }
    },
    120_000,
  );

  it("keeps a graded page near its budget whatever the schemas are", () => {
    const serializer = gradedSerializer();
    for (const file of files) {
      const tools = read(file);
      for (let at = 0; at < tools.length; at += 8) {
        const page = tools.slice(at, at + 8);
        const text = serializer(page, { total: tools.length }) as string;
        expect(estimateTokens(text)).toBeLessThan(1_500 * 1.2 + estimateTokens(briefList(page)));
      }
    }
  });
});
