/** Index of the first character that is neither white space nor comment; the length of the code when there is none. */
export function firstCodeAt(code: string, from = 0): number {
  let at = from;
  for (;;) {
    while (at < code.length && isSpace(code, at)) at++;
    if (code.startsWith("/*", at)) at = endOf(code, "*/", at + 2);
    else if (code.startsWith("//", at) || (at === 0 && code.startsWith("#!"))) at = endOf(code, "\n", at);
    else return at;
  }
}

/** True when there is nothing to run: only white space, comments and semicolons. */
export function isBlankScript(code: string): boolean {
  let at = firstCodeAt(code);
  while (code[at] === ";") at = firstCodeAt(code, at + 1);
  return at >= code.length;
}

const SPACE = /\s/;
// A byte order mark counts as white space in scripts; the expression above knows it too.
const isSpace = (code: string, at: number): boolean => SPACE.test(code[at] ?? "");

function endOf(code: string, end: string, from: number): number {
  const at = code.indexOf(end, from);
  return at < 0 ? code.length : at + end.length;
}
