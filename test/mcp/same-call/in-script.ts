import type { Message } from "./wire.js";

interface Block {
  type: string;
  text?: string;
}

interface Result {
  content?: Block[];
  structuredContent?: unknown;
  isError?: boolean;
}

/**
 * What the reply of `execute` has to be for the script `return await call_tool(name, args)`, given the answer to a direct
 * call: the contract of `call_tool`, in the words of a client.
 */
export function expectedReply(name: string, direct: Message): Message {
  const { error, result } = direct;
  // Only the client can act on this one, so it passes as it is.
  if (error?.code === -32042) return { error };
  if (error !== undefined)
    return failed(`call_tool('${name}') failed: ${error.message.replace(/^MCP error -?\d+: /, "")}`);
  const { content = [], structuredContent, isError } = (result ?? {}) as Result;
  if (isError === true) return failed(`call_tool('${name}') failed: ${textOf(content)}`);
  if (structuredContent !== undefined) return succeeded([{ type: "text", text: JSON.stringify(structuredContent) }]);
  if (content.length === 0) return succeeded([{ type: "text", text: "null" }]);
  if (content.every(({ type }) => type === "text")) return succeeded([{ type: "text", text: textOf(content) }]);
  return succeeded(content);
}

/** A reply of `execute` in the same form: of a failure only the first line of what the model reads. */
export function replyOf({ error, result }: Message): Message {
  if (error !== undefined) return { error };
  const { content = [], isError } = (result ?? {}) as Result;
  if (isError !== true) return succeeded(content);
  const [first = ""] = textOf(content).split(/\n {2}at line |\. Parameters of /);
  return failed(first.replace(/^\w+: /, ""));
}

const textOf = (content: readonly Block[]): string => content.map(({ text }) => text).join("\n");
const succeeded = (content: readonly Block[]): Message => ({ result: { content } });
const failed = (text: string): Message => ({ result: { isError: true, text } });
