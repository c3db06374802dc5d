import { keyword, membersOf, schemaObject, typesOf, type SchemaObject } from "../../catalog/json-schema.js";
import { type ApiDocument, Unencodable } from "../document/api-document.js";
import { BODY, BODY_BASE64, type BodyPlan, type FieldEncoding, type FieldsPlan } from "../request/request-plan.js";
import type { SchemaLibrary } from "../schema/schema-library.js";
import { essenceOf, isAnyType, isJsonType, isTextType } from "./media-types.js";
import { objectFields, type ObjectFields } from "./object-fields.js";
import { textOf } from "./operations.js";

/** A body: how it is made, and the arguments that it is made of. */
export interface ApiBody {
  plan: BodyPlan;
  /** Argument -> schema, not converted yet. */
  properties: ReadonlyMap<string, unknown>;
  required: readonly string[];
  /** Sets of arguments of which one must be there, as `anyOf`s. */
  alternatives: readonly string[][][];
  /** What further arguments of the body may be; undefined: there are none. */
  additional: unknown;
}

/** Lower is better. JSON says most; a patch by its fields is easier to write than one by operations. */
const PREFERENCES: readonly ((type: string) => boolean)[] = [
  (type) => type === "application/json",
  (type) => type === "application/merge-patch+json",
  (type) => isJsonType(type) && type !== "application/json-patch+json",
  isJsonType,
  isAnyType,
  (type) => type === "application/x-www-form-urlencoded",
  (type) => type === "multipart/form-data",
  isTextType,
  () => true,
];

/**
 * The body of an operation, in the media type that is easiest to write; undefined when it has none.
 *
 * @throws {Unencodable} when no media type is one that can be sent.
 */
export function readBody(
  document: ApiDocument,
  library: SchemaLibrary,
  body: SchemaObject | undefined,
): ApiBody | undefined {
  const content = body === undefined ? [] : membersOf(keyword(body, "content"));
  const [best] = content.toSorted(([left], [right]) => preferenceOf(left) - preferenceOf(right));
  if (body === undefined || best === undefined) return undefined;
  const [mediaType, value] = best;
  const media = schemaObject(value) ?? {};
  const required = keyword(body, "required") === true;
  const description = textOf(body, "description");
  const essence = essenceOf(mediaType);
  const contentType = isAnyType(mediaType) ? "application/json" : mediaType;
  if (/[\r\n]/.test(contentType)) throw new Unencodable("the media type of its body has more than one line");
  const context = { document, library, media, contentType, required, description };
  if (isJsonType(essence) || (isAnyType(essence) && !isBinary(document, keyword(media, "schema")))) {
    return fieldsBody("json", context) ?? wholeBody("whole-json", context);
  }
  if (essence === "application/x-www-form-urlencoded") return formBody("form", context);
  if (essence.startsWith("multipart/")) return formBody("multipart", context);
  if (isTextType(essence)) return wholeBody("text", context);
  return binaryBody({ ...context, contentType: isAnyType(mediaType) ? "application/octet-stream" : mediaType });
}

const preferenceOf = (mediaType: string): number => PREFERENCES.findIndex((fits) => fits(essenceOf(mediaType)));

interface BodyContext {
  document: ApiDocument;
  library: SchemaLibrary;
  media: SchemaObject;
  contentType: string;
  required: boolean;
  description: string | undefined;
}

function fieldsBody(kind: FieldsPlan["kind"], context: BodyContext): ApiBody | undefined {
  const { document, library, media, contentType, required } = context;
  const fields = objectFields(document, library, keyword(media, "schema"));
  if (fields === undefined) return undefined;
  const open = fields.additional === true || schemaObject(fields.additional) !== undefined;
  const properties = [...fields.properties].map(([name, schema]) => {
    return [name, kind === "multipart" && isBinary(document, schema) ? fileSchema(schema) : schema] as const;
  });
  return {
    plan: { kind, contentType, fields: fieldEncodings(context, fields), open, required },
    properties: new Map(properties),
    required: required ? [...fields.required] : [],
    alternatives: required ? fields.alternatives : [],
    additional: open ? fields.additional : undefined,
  };
}

function formBody(kind: "form" | "multipart", context: BodyContext): ApiBody {
  const body = fieldsBody(kind, context);
  if (body !== undefined) return body;
  const schema = schemaObject(keyword(context.media, "schema")) ?? {};
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("object")) throw new Unencodable("its form is no object");
  // A form whose fields are not known: whatever is given.
  const plan: FieldsPlan = {
    kind,
    contentType: context.contentType,
    fields: new Map(),
    open: true,
    required: context.required,
  };
  return { plan, properties: new Map(), required: [], alternatives: [], additional: true };
}

function fieldEncodings({ document, media }: BodyContext, fields: ObjectFields): Map<string, FieldEncoding> {
  const encodings = schemaObject(keyword(media, "encoding")) ?? {};
  return new Map(
    [...fields.properties].map(([name, schema]) => {
      const own = schemaObject(keyword(encodings, name)) ?? {};
      const style = textOf(own, "style");
      const explode = keyword(own, "explode");
      const field: FieldEncoding = {
        encoding: {
          style: style ?? "form",
          explode: typeof explode === "boolean" ? explode : (style ?? "form") === "form",
          allowReserved: keyword(own, "allowReserved") === true,
        },
        styled: style !== undefined || explode !== undefined,
        contentType: textOf(own, "contentType"),
        isBinary: isBinary(document, schema),
      };
      return [name, field];
    }),
  );
}

function wholeBody(kind: "whole-json" | "text", { media, contentType, required, description }: BodyContext): ApiBody {
  const schema = kind === "text" ? { type: "string", description: `${contentType} text` } : keyword(media, "schema");
  const described = description === undefined ? (schema ?? {}) : withDescription(schema, description);
  return {
    plan: { kind, contentType, required },
    properties: new Map([[BODY, described]]),
    required: required ? [BODY] : [],
    alternatives: [],
    additional: undefined,
  };
}

function binaryBody({ contentType, required, description }: BodyContext): ApiBody {
  const about = description ?? contentType;
  return {
    plan: { kind: "binary", contentType, required },
    properties: new Map([
      [BODY, { type: "string", description: `${about}: text, sent as UTF-8` }],
      [BODY_BASE64, { type: "string", contentEncoding: "base64", description: `${about}: bytes as base64` }],
    ]),
    required: [],
    alternatives: required ? [[[BODY], [BODY_BASE64]]] : [],
    additional: undefined,
  };
}

function withDescription(schema: unknown, description: string): unknown {
  const object = schemaObject(schema ?? {});
  return object === undefined || "description" in object ? schema : { ...object, description };
}

/** True for a schema of bytes, also a list of them. */
function isBinary(document: ApiDocument, value: unknown): boolean {
  const schema = document.resolved(value);
  if (schema === undefined) return false;
  const items = keyword(schema, "items");
  if (items !== undefined) return isBinary(document, items);
  const mediaType = keyword(schema, "contentMediaType");
  const isBytes =
    typeof mediaType === "string" && !isTextType(mediaType) && keyword(schema, "contentEncoding") === undefined;
  return keyword(schema, "format") === "binary" || keyword(schema, "type") === "file" || isBytes;
}

/** A file of a form: its text, or its bytes with what goes with them. */
function fileSchema(schema: unknown): unknown {
  const source = schemaObject(schema) ?? {};
  const description = textOf(source, "description");
  const text = { type: "string" };
  const file = {
    anyOf: [
      text,
      {
        type: "object",
        properties: { text, base64: text, filename: text, contentType: text },
        additionalProperties: false,
      },
    ],
  };
  const described = description === undefined ? {} : { description };
  const isList = typesOf(source).includes("array");
  return { ...(isList ? { type: "array", items: file } : file), ...described };
}
