import { messageOf } from "../../src/errors.js";
import { portablePrelude } from "../../src/sandbox/portable-prelude.js";
import type { SandboxProvider, SandboxResult } from "../../src/sandbox/provider.js";
import { toFunctionBody } from "../../src/sandbox/script.js";

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...args: unknown[]) => Promise<unknown>;

/** The least sandbox there can be, without any safety: function bodies in the host's own realm. It takes scripts as the engine would hand them on. */
export const functionBodySandbox: SandboxProvider = {
  name: "function-body",
  async run(script, { externalFunctions = {} }): Promise<SandboxResult> {
    const { body, notes, error } = await toFunctionBody(script);
    if (error !== undefined) return { status: "failed", error, notes };
    try {
      const run = new AsyncFunction(...Object.keys(externalFunctions), portablePrelude(body));
      return { status: "completed", value: await run(...Object.values(externalFunctions)), notes };
    } catch (thrown) {
      return { status: "failed", error: { kind: "runtime", name: "Error", message: messageOf(thrown) }, notes };
    }
  },
};
