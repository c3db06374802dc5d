import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository, with a separator at its end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A fenced block of code. */
export interface CodeBlock {
  /** Where it stands: `docs/x.md:12`. */
  place: string;
  /** What stands behind the fence: `ts`, `js`, `text`, ... */
  language: string;
  code: string;
}

/** A page of the documentation. */
export interface Page {
  /** Relative to {@link ROOT}. */
  path: string;
  text: string;
}

/** README.md and the other pages at the top, then those in docs/. */
export function pages(): Page[] {
  const paths = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    ...readdirSync(join(ROOT, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  return paths.map(page);
}

/** One page. */
export const page = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), "utf8") });

/** Its blocks of code, in order. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^ {0,3}```(.*)$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) open = { language: (fence[1] ?? "").trim(), line: index + 1, lines: [] };
    else {
      blocks.push({ place: `${path}:${open.line}`, language: open.language, code: open.lines.join("\n") });
      open = undefined;
    }
  }
  return blocks;
}

/** The text without its blocks of code. */
export const prose = ({ text }: Page): string => text.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, "");

/** Targets of its links, without those to other sites. */
export function links(of: Page): string[] {
  const targets = [...prose(of).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of its headings, as GitHub makes them. */
export function anchors(of: Page): string[] {
  return [...prose(of).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** Rows of its tables, each as its cells; headings and rules are rows too. */
export function tableRows(of: Page): string[][] {
  const lines = prose(of)
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  );
}
