/** Whatever models write, as something that runs: see the files of `script/` for the parts. */
export { isBlankScript } from "./script/blank.js";
export { toFunctionBody, type FunctionBody } from "./script/function-body.js";
export { prepareScript, type PreparedScript } from "./script/prepare.js";
