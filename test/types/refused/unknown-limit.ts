import { codeMode } from "mcp-codemode";

codeMode({ limits: { timeoutSeconds: 5 } });
