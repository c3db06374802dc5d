import { randomUUID } from "node:crypto";
import { ArgumentFault } from "./argument-fault.js";
import { BODY, BODY_BASE64, type BodyPlan, type FieldEncoding, type FieldsPlan } from "./request-plan.js";
import { encoded, pairsOf, textOf } from "./styles.js";

/** A body as it is sent. */
export interface EncodedBody {
  contentType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The body of a request; undefined when it has none.
 *
 * @param args the arguments that are not parameters
 * @throws {ArgumentFault} for arguments that cannot be sent.
 */
export function encodeBody(plan: BodyPlan, args: ReadonlyMap<string, unknown>): EncodedBody | undefined {
  switch (plan.kind) {
    case "whole-json":
      return args.has(BODY)
        ? { contentType: plan.contentType, bytes: utf8(JSON.stringify(args.get(BODY))) }
        : undefined;
    case "text":
      return args.has(BODY) ? { contentType: plan.contentType, bytes: utf8(textOf(args.get(BODY))) } : undefined;
    case "binary":
      return binaryBody(plan.contentType, args);
    default:
      return fieldsBody(plan, args);
  }
}

function binaryBody(contentType: string, args: ReadonlyMap<string, unknown>): EncodedBody | undefined {
  if (args.has(BODY) && args.has(BODY_BASE64))
    throw new ArgumentFault(`give either ${BODY} or ${BODY_BASE64}, not both`);
  if (args.has(BODY_BASE64)) return { contentType, bytes: base64Bytes(args.get(BODY_BASE64), BODY_BASE64) };
  return args.has(BODY) ? { contentType, bytes: utf8(textOf(args.get(BODY))) } : undefined;
}

function fieldsBody(plan: FieldsPlan, args: ReadonlyMap<string, unknown>): EncodedBody | undefined {
  const given = [...args].filter(([name, value]) => value !== undefined && (plan.open || plan.fields.has(name)));
  if (given.length === 0 && !plan.required) return undefined;
  switch (plan.kind) {
    case "json":
      // Entries, since a property may be called "__proto__".
      return { contentType: plan.contentType, bytes: utf8(JSON.stringify(Object.fromEntries(given))) };
    case "form":
      return { contentType: plan.contentType, bytes: utf8(formText(plan, given)) };
    case "multipart":
      return multipartBody(plan, given);
  }
}

const FORM_DEFAULT: FieldEncoding = {
  encoding: { style: "form", explode: true, allowReserved: false },
  styled: false,
  contentType: undefined,
  isBinary: false,
};

function formText(plan: FieldsPlan, given: readonly (readonly [string, unknown])[]): string {
  const pairs = given.flatMap(([name, value]) => {
    const { encoding, styled } = plan.fields.get(name) ?? FORM_DEFAULT;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return pairsOf(name, isObject && !styled ? JSON.stringify(value) : value, encoding);
  });
  return pairs.map(({ name, value }) => `${encoded(name, false)}=${value}`).join("&");
}

interface Part {
  name: string;
  bytes: Uint8Array;
  filename?: string | undefined;
  contentType?: string | undefined;
}

function multipartBody(plan: FieldsPlan, given: readonly (readonly [string, unknown])[]): EncodedBody {
  const parts = given.flatMap(([name, value]) => {
    const field = plan.fields.get(name) ?? FORM_DEFAULT;
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.filter((one) => one !== null && one !== undefined).map((one) => partOf(name, one, field));
  });
  const boundary = `mcp-codemode-${randomUUID()}`;
  const chunks = parts.flatMap((part) => [utf8(`--${boundary}\r\n${partHead(part)}\r\n`), part.bytes, utf8("\r\n")]);
  return {
    contentType: `${plan.contentType.split(";")[0]}; boundary=${boundary}`,
    bytes: new Uint8Array(Buffer.concat([...chunks, utf8(`--${boundary}--\r\n`)])),
  };
}

function partOf(name: string, value: unknown, { isBinary, contentType }: FieldEncoding): Part {
  if (isBinary) return filePart(name, value, contentType);
  if (typeof value === "object") {
    return { name, bytes: utf8(JSON.stringify(value)), contentType: contentType ?? "application/json" };
  }
  return { name, bytes: utf8(textOf(value)), contentType };
}

function filePart(name: string, value: unknown, declared: string | undefined): Part {
  const file = (typeof value === "object" ? value : { text: textOf(value) }) as Record<string, unknown>;
  const { text, base64, filename, contentType } = file;
  if ((text === undefined) === (base64 === undefined)) {
    throw new ArgumentFault(`${name}: give the file as text, or as an object with either text or base64`);
  }
  const bytes = base64 === undefined ? utf8(textOf(text)) : base64Bytes(base64, `${name}.base64`);
  // One concrete type of the document, else what the script says, else bytes.
  const fallback =
    declared !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(declared) ? declared : "application/octet-stream";
  const type = typeof contentType === "string" ? contentType : fallback;
  return { name, bytes, filename: typeof filename === "string" ? filename : name, contentType: type };
}

function partHead({ name, filename, contentType }: Part): string {
  const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
  const type = contentType === undefined ? "" : `Content-Type: ${oneLine(contentType)}\r\n`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}`;
}

/** As browsers write names of parts: nothing can end the quotes or the line. */
const quoted = (text: string): string => text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

function oneLine(text: string): string {
  if (/^[\t -~]*$/.test(text)) return text;
  throw new ArgumentFault("a content type must be one line of ASCII");
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

function base64Bytes(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  const text = typeof value === "string" ? value.replace(/\s+/g, "") : "";
  if (typeof value !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(text))
    throw new ArgumentFault(`${name} is no base64 text`);
  return new Uint8Array(Buffer.from(text, "base64"));
}
