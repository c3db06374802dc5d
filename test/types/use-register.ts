// The side effect that gives every McpServer of the SDK 1.x a `use`.
import "mcp-codemode/register";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode } from "mcp-codemode";

const server = new McpServer({ name: "demo", version: "1.0.0" });
const same: McpServer = server.use(codeMode());
await same.close();
