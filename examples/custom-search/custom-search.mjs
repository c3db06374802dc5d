// A search strategy and a serializer as plain functions.
import assert from "node:assert/strict";
import { createCodeMode } from "mcp-codemode";
import { fakeSource } from "mcp-codemode/testing";

const handler = () => "done";
const source = fakeSource({
  list_rooms: { description: "All meeting rooms.", handler },
  book_room: { description: "Reserve a meeting room.", handler },
  list_people: { description: "Everyone in the office.", handler },
});

/** Tools that share words with the question, most words first. What it returns is all that is found. */
function byWords(tools, query) {
  const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? [];
  const asked = new Set(wordsOf(query));
  const score = ({ name, description }) => wordsOf(`${name} ${description}`).filter((word) => asked.has(word)).length;
  return tools
    .map((tool) => ({ tool, score: score(tool) }))
    .filter((hit) => hit.score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}

/** A string is sent as it is; a list of objects would be sent as JSON. May be async. */
async function asLines(tools, { query, total }) {
  const lines = tools.map(({ name, description }) => `${name} | ${description}`);
  return [`${tools.length} of ${total} for "${query}"`, ...lines].join("\n");
}

const engine = createCodeMode(source, { searchStrategy: byWords, searchResultSerializer: asLines });
const found = await engine.search({ query: "reserve a meeting room", limit: 2 });
console.log(found.content[0].text);
assert.equal(
  found.content[0].text,
  '2 of 3 for "reserve a meeting room"\nbook_room | Reserve a meeting room.\nlist_rooms | All meeting rooms.',
);

// Exact names and the empty query are answered before any strategy is asked.
const named = await engine.search({ query: "list_people, book_room" });
assert.match(named.content[0].text, /^2 of 3 .*\nlist_people .*\nbook_room /);
await engine.close();
