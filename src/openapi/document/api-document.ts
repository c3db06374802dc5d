import { keyword, resolveReference, schemaObject, type SchemaObject } from "../../catalog/json-schema.js";

/** References from one object to the next that are followed before a chain counts as endless. */
const MAX_REFERENCES = 32;

/** What cannot become a tool, or a part of one. The message is the reason, as a host reads it. */
export class Unencodable extends Error {
  override readonly name = "Unencodable";
}

/** A parsed document in the form of OpenAPI 3, and where it came from. Never changed. */
export class ApiDocument {
  constructor(
    readonly root: SchemaObject,
    /** Its own address, which relative server URLs are relative to. */
    readonly address: URL | undefined,
  ) {}

  /**
   * The object itself, or the one that its `$ref` leads to. Other members of the object win over those of the target.
   *
   * @throws {Unencodable} when a reference leads out of the document, to nothing or in a circle.
   */
  resolved(value: unknown): SchemaObject | undefined {
    let object = schemaObject(value);
    for (let step = 0; object !== undefined && step < MAX_REFERENCES; step++) {
      const reference = keyword(object, "$ref");
      if (typeof reference !== "string") return object;
      const { $ref: _followed, ...siblings } = object;
      const target = schemaObject(this.target(reference));
      object = target === undefined || Object.keys(siblings).length === 0 ? target : { ...target, ...siblings };
    }
    if (object === undefined) return undefined;
    throw new Unencodable("it has a reference that leads to itself");
  }

  /**
   * What a reference points to.
   *
   * @throws {Unencodable} when it leads out of the document, or to nothing.
   */
  target(reference: string): unknown {
    if (!reference.startsWith("#")) {
      throw new Unencodable(
        `it refers to ${JSON.stringify(reference)}, outside of the document (externalReferences: true reads such files)`,
      );
    }
    const found = resolveReference(this.root, reference);
    if (found === undefined) throw new Unencodable(`it refers to ${JSON.stringify(reference)}, which does not exist`);
    return found.schema;
  }
}
