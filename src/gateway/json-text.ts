import { parseExpressionAt, type Expression, type Node } from "acorn";
import { ConfigurationError, messageOf } from "../errors.js";

/**
 * The value of JSON text as editors write it: comments and trailing commas are allowed, since VS Code puts both into its
 * files.
 *
 * @param where Name of the file, for errors.
 * @throws {ConfigurationError} with line and column for text that is neither.
 */
export function parseJsonText(text: string, where: string): unknown {
  const plain = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    return parseLoosely(plain, where);
  }
}

/** As a JavaScript expression that holds nothing but literals: a parser that is there anyway, with good positions. */
function parseLoosely(text: string, where: string): unknown {
  let expression: Expression;
  try {
    expression = parseExpressionAt(text, 0, { ecmaVersion: 2023, locations: true });
    const rest = text.slice(expression.end).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    if (rest.trim() !== "") throw new SyntaxError(`unexpected text after the value: ${rest.trim().slice(0, 40)}`);
  } catch (cause) {
    throw new ConfigurationError(`${where} is no JSON: ${messageOf(cause)}`, { cause });
  }
  return valueOf(expression, where);
}

function valueOf(node: Node, where: string): unknown {
  const known = node as Expression;
  switch (known.type) {
    case "Literal":
      if (known.regex === undefined && known.bigint === undefined) return known.value;
      break;
    case "ArrayExpression":
      return known.elements.map((element) => valueOf(element ?? node, where));
    case "ObjectExpression":
      return Object.fromEntries(known.properties.map((property) => entryOf(property, where)));
    case "UnaryExpression":
      if (known.operator === "-" && known.argument.type === "Literal") return -Number(known.argument.value);
      break;
    default:
  }
  throw notJson(node, where);
}

/** `fromEntries` defines keys: one named "__proto__" stays a key. */
function entryOf(node: Node, where: string): [string, unknown] {
  const property = node as Extract<Expression, { type: "ObjectExpression" }>["properties"][number];
  if (property.type !== "Property" || property.computed || property.key.type !== "Literal") throw notJson(node, where);
  return [String(property.key.value), valueOf(property.value, where)];
}

function notJson(node: Node, where: string): ConfigurationError {
  const { line = 0, column = 0 } = node.loc?.start ?? {};
  return new ConfigurationError(`${where} is no JSON: line ${line}, column ${column + 1} is no JSON value`);
}
