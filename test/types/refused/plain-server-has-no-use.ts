// Without mcp-codemode/register or withTransforms.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { codeMode } from "mcp-codemode";

new McpServer({ name: "demo", version: "1.0.0" }).use(codeMode());
