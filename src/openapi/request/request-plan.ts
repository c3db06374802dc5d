import type { Encoding } from "./styles.js";

/** Where a parameter goes. */
export type ParameterLocation = "path" | "query" | "header" | "cookie";

/** One parameter outside of the body. */
export interface ParameterPlan {
  /** The argument that holds its value. */
  argument: string;
  /** Its name in the request. */
  name: string;
  location: ParameterLocation;
  encoding: Encoding;
  /** The value is one text of JSON, whatever it is. */
  asJson: boolean;
}

/** A body made of arguments of its own, one for each property. */
export interface FieldsPlan {
  kind: "json" | "form" | "multipart";
  contentType: string;
  /** How each property is written in a form. */
  fields: ReadonlyMap<string, FieldEncoding>;
  /** Arguments that the schema does not name belong to the body. */
  open: boolean;
  /** Sent also when no argument of it was given. */
  required: boolean;
}

/** A body that is one argument: `body`, for bytes also `bodyBase64`. */
export interface WholePlan {
  kind: "whole-json" | "text" | "binary";
  contentType: string;
  required: boolean;
}

/** How the body of an operation is made. */
export type BodyPlan = FieldsPlan | WholePlan;

/** How one property of a form is written. */
export interface FieldEncoding {
  encoding: Encoding;
  /** Objects are written as JSON, unless the document gives a style. */
  styled: boolean;
  contentType: string | undefined;
  isBinary: boolean;
}

/** Arguments of a body that is one argument. */
export const BODY = "body";
export const BODY_BASE64 = "bodyBase64";

/** Everything that turns the arguments of one tool into a request. */
export interface RequestPlan {
  tool: string;
  method: string;
  /** The template of the path, without query and fragment. */
  path: string;
  /** A query that the document has in the path itself, without "?". */
  query: string;
  server: URL;
  parameters: readonly ParameterPlan[];
  body: BodyPlan | undefined;
  accept: string;
  /** Alternatives of `security`. */
  security: readonly unknown[];
  /** The listed output is `{ result: ... }` around what the server answers. */
  wrapsResult: boolean;
}
