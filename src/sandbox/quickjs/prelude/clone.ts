import { decodeValue } from "../../values/decode.js";
import { encodeValue, ValueLimit } from "../../values/encode.js";
import { defineFunction } from "./define.js";
import { domException } from "./dom-exception.js";

/** A deep copy by the codec that carries values between script and host: what that cannot hold cannot be cloned. */
function structuredClone(value: unknown): unknown {
  try {
    const { text, dropped } = encodeValue(value, Infinity);
    if (dropped > 0) throw domException("Functions and symbols cannot be cloned", "DataCloneError");
    return text === undefined ? undefined : decodeValue(text);
  } catch (error) {
    if (!(error instanceof ValueLimit)) throw error;
    throw domException("The value is nested too deeply to be cloned", "DataCloneError");
  }
}

/** `structuredClone`. */
export function installClone(): void {
  defineFunction("structuredClone", structuredClone);
}
