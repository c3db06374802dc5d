import { codeMode } from "mcp-codemode";

codeMode({ searchToolNames: "find" });
