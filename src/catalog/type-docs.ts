import { keyword, membersOf, typesOf, type SchemaObject } from "./json-schema.js";
import { commentText } from "./untrusted-text.js";

/** Characters of one description in a doc comment. */
export const MAX_DOC_CHARACTERS = 4_000;
/** Characters of the value of one constraint in a doc comment. */
const MAX_TAG_CHARACTERS = 400;
/** A comment up to this long stays on one line. */
const LINE_CHARACTERS = 100;

/** Keywords that a type cannot say, in the order they are printed. */
const TAGS = `default format pattern minLength maxLength minimum exclusiveMinimum maximum exclusiveMaximum multipleOf
  minItems maxItems uniqueItems contains minContains maxContains minProperties maxProperties propertyNames
  contentEncoding contentMediaType not if then else dependentRequired dependentSchemas dependencies
  unevaluatedProperties deprecated readOnly writeOnly examples example`.split(/\s+/);

/** Bounds that generators write for "any safe integer": they tell nothing. */
const SAFE_INTEGER_BOUNDS: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** The documentation of a schema: its description (else its title), then one `@keyword value` for each constraint. */
export function docLines(schema: SchemaObject): string[] {
  const lines: string[] = [];
  for (const name of ["description", "title"]) {
    const text = keyword(schema, name);
    if (typeof text === "string" && lines.length === 0) lines.push(commentText(text, MAX_DOC_CHARACTERS));
  }
  if (typesOf(schema).includes("integer")) lines.push("@integer");
  for (const name of TAGS) {
    const value = keyword(schema, name);
    if (value === undefined || value === false || SAFE_INTEGER_BOUNDS.includes(value)) continue;
    lines.push(value === true && name !== "default" ? `@${name}` : `@${name} ${valueText(value)}`);
  }
  const patterns = membersOf(keyword(schema, "patternProperties")).map(([pattern]) => pattern);
  if (patterns.length > 0) lines.push(`@patternProperties ${valueText(patterns)}`);
  return lines.filter((line) => line !== "");
}

/** A doc comment on lines of its own, with the indentation of what follows; "" when there is nothing to say. */
export function docComment(lines: readonly string[], indent: string): string {
  if (lines.length === 0) return "";
  const single = lines.join(" ");
  if (single.length <= LINE_CHARACTERS) return `/** ${single} */\n${indent}`;
  return `/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n${indent}`;
}

/** A doc comment within a line; "" when there is nothing to say. */
export function inlineDocComment(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `/** ${lines.join(" ")} */ `;
}

/** A JSON value as comment text: compact, at most `maxCharacters`. What is no JSON value is named as such. */
export function valueText(value: unknown, maxCharacters = MAX_TAG_CHARACTERS): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // Circular, a BigInt, or a getter that throws.
  }
  return commentText(text ?? "(not a JSON value)", maxCharacters);
}
