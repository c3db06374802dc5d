/**
 * A test for tool names from lists of names in which `*` stands for any characters.
 *
 * @param allow Absent: all that are not denied.
 * @param deny Wins over `allow`.
 *
 * @example
 * toolFilter(["read_*", "list"], ["read_secret"])("read_file"); // true
 */
export function toolFilter(
  allow: readonly string[] | undefined,
  deny: readonly string[] | undefined,
): (name: string) => boolean {
  const allowed = allow?.map(matcher);
  const denied = (deny ?? []).map(matcher);
  return (name) => !denied.some((matches) => matches(name)) && (allowed?.some((matches) => matches(name)) ?? true);
}

function matcher(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const parts = pattern.split("*");
  return (name) => matchesParts(name, parts);
}

/** Without a regular expression: names come from upstreams, and many stars would make one slow. */
function matchesParts(name: string, parts: readonly string[]): boolean {
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
