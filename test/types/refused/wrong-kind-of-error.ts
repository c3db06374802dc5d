import type { CodeModeError } from "mcp-codemode";

export const wrong = (error: CodeModeError): boolean => error.kind === "time-out";
