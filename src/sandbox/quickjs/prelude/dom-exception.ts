import { NewError, toText } from "../../values/intrinsics.js";
import { defineClass } from "./define.js";

class NewWebException extends NewError {
  constructor(message?: unknown, name?: unknown) {
    super(message === undefined ? "" : toText(message));
    this.name = name === undefined ? "Error" : toText(name);
  }
}

/** The error class of web interfaces: told apart by `name`. The second script of the prelude takes that of the first. */
const WebException =
  (globalThis as unknown as { DOMException?: typeof NewWebException }).DOMException ?? NewWebException;

/** Such an error. */
export const domException = (message: string, name: string): Error => new WebException(message, name);

/** `DOMException`. */
export function installDomException(): void {
  defineClass("DOMException", WebException);
}
