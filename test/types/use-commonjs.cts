// From CommonJS.
import codeModePackage = require("mcp-codemode");
import sandboxPackage = require("mcp-codemode/sandbox");

const transform: codeModePackage.Transform = codeModePackage.codeMode({ limits: { timeoutMs: 1_000 } });
const provider: codeModePackage.SandboxProvider = sandboxPackage.quickJsSandbox();
export = { transform, provider };
