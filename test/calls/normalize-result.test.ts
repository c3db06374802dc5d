import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../src/catalog/tool.js";
import { ContentHandles } from "../../src/calls/content-handles.js";
import { normalizeResult } from "../../src/calls/normalize-result.js";

const text = (value: string) => ({ type: "text" as const, text: value });
const image = { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" };
const audio = { type: "audio" as const, mimeType: "audio/wav", data: "UklGRg==" };
const resource = { type: "resource" as const, resource: { uri: "file:///a.txt", text: "body" } };
const link = { type: "resource_link" as const, uri: "https://x.test/y", name: "y" };
const valueOf = (result: ToolResult, handles = new ContentHandles()): unknown => normalizeResult(result, handles).value;

describe("a result is", () => {
  it("its structured content as it is, wrapped or not", () => {
    expect(valueOf({ content: [text("{}")], structuredContent: { result: 5 } })).toEqual({ result: 5 });
    expect(valueOf({ content: [], structuredContent: { n: 3 } })).toEqual({ n: 3 });
  });

  it("else its text as it was sent, several blocks joined by a newline", () => {
    expect(valueOf({ content: [text("hello")] })).toBe("hello");
    expect(valueOf({ content: [text("a"), text("b")] })).toBe("a\nb");
    expect(valueOf({ content: [text('{"ns":1760000000000000123}')] })).toBe('{"ns":1760000000000000123}');
  });

  it.each<[ToolResult]>([[{ content: [] }], [{}], [{ content: "nonsense" }], [{ content: [null, 5] }]])(
    "else null: %o",
    (result) => {
      expect(valueOf(result)).toBeNull();
    },
  );

  it("45: an object that tells type and MIME type, for an image", () => {
    const value = valueOf({ content: [image] });
    expect(value).toEqual({ type: "image", mimeType: "image/png", handle: expect.any(String) as string });
    expect(JSON.stringify(value)).not.toContain(image.data);
  });

  it("a list of blocks, for a mixture, in which the text of a resource can be read", () => {
    const value = valueOf({ content: [text("see"), resource, link, audio, { type: "hologram", depth: 3 }] });
    expect(value).toEqual([
      text("see"),
      { type: "resource", uri: "file:///a.txt", text: "body", handle: expect.any(String) as string },
      { type: "resource_link", uri: "https://x.test/y", name: "y", handle: expect.any(String) as string },
      { type: "audio", mimeType: "audio/wav", handle: expect.any(String) as string },
      { type: "hologram", depth: 3 },
    ]);
  });

  it("safe from blocks that are not what they say", () => {
    expect(valueOf({ content: [{ type: "image" }] })).toEqual({ type: "image" });
    expect(valueOf({ content: [{ type: "resource", resource: { uri: 5 } }] })).toMatchObject({ type: "resource" });
  });

  it("counted with the media that stay on the host", () => {
    expect(normalizeResult({ content: [image, resource] }, new ContentHandles()).heldCharacters).toBe(12 + 4);
  });
});

describe("content that a script returns", () => {
  it("comes out as the block it came from, alone or in a list with text", () => {
    const handles = new ContentHandles();
    const value = valueOf({ content: [text("taken"), image] }, handles) as unknown[];
    expect(handles.resolve(value)).toMatchObject({ content: [text("taken"), image], contentOnly: true });
    expect(handles.resolve(value[1])).toMatchObject({ content: [image], contentOnly: true });
  });

  it("leaves its description behind in a larger value, and comes once", () => {
    const handles = new ContentHandles();
    const shot = valueOf({ content: [image] }, handles);
    expect(handles.resolve({ title: "x", shots: [shot, shot] })).toEqual({
      value: {
        title: "x",
        shots: [
          { type: "image", mimeType: "image/png" },
          { type: "image", mimeType: "image/png" },
        ],
      },
      content: [image],
      contentOnly: false,
    });
  });

  it("cannot be made up, nor be taken from another run", () => {
    const other = new ContentHandles();
    const foreign = valueOf({ content: [image] }, other);
    const handles = new ContentHandles();
    valueOf({ content: [audio] }, handles);
    for (const forged of [
      foreign,
      { type: "image", handle: "content:1" },
      { type: "image", handle: { toString: 1 } },
    ]) {
      expect(handles.resolve(forged)).toEqual({ value: forged, content: [], contentOnly: false });
    }
  });

  it("is not changed by what a script writes on the handle object", () => {
    const handles = new ContentHandles();
    const shot = valueOf({ content: [image] }, handles) as object;
    expect(handles.resolve({ ...shot, type: "text", mimeType: "text/html", text: "forged" }).content).toEqual([image]);
  });

  it("does not disturb a value with a key __proto__", () => {
    const handles = new ContentHandles();
    const shot = valueOf({ content: [image] }, handles);
    const value = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>;
    value["shot"] = shot;
    const resolved = handles.resolve(value).value as object;
    expect(Object.getPrototypeOf(resolved)).toBe(Object.prototype);
    expect(JSON.stringify(resolved)).toContain('"__proto__":{"x":1}');
  });
});
