/** `application/json; charset=utf-8` -> `application/json`. */
export const essenceOf = (mediaType: string): string => (mediaType.split(";")[0] ?? "").trim().toLowerCase();

/** True for JSON and everything that is written as it. Sequences of JSON texts are not. */
export function isJsonType(mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  return /^(application|text)\/json$/.test(essence) || /^[^/]+\/[^/]+\+json$/.test(essence);
}

/** True for media types that hold text. */
export function isTextType(mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  return (
    essence.startsWith("text/") ||
    isJsonType(essence) ||
    /[/+](xml|yaml)$/.test(essence) ||
    /^application\/(x-yaml|javascript|ecmascript|graphql|sql|x-www-form-urlencoded|x-ndjson|ndjson|jsonl|jsonlines|json-seq|toml|rtf|x-sh)$/.test(
      essence,
    )
  );
}

/** True for `*\/*` and `application/*`: whatever the client likes. */
export const isAnyType = (mediaType: string): boolean => ["*/*", "application/*"].includes(essenceOf(mediaType));
