import { NewError } from "./intrinsics.js";

/** How small the parts of a value must be made: what is larger is cut and marked. */
export interface Shrink {
  /** Longest string, in UTF-16 units. */
  string: number;
  /** Most items of an array, Map or Set. */
  items: number;
  /** Most keys of an object. */
  keys: number;
  /** Containers inside of containers. */
  depth: number;
}

/** What `encodeValue` gives. */
export interface EncodedValue {
  /** JSON text; undefined for `undefined`, a function or a symbol at the top. */
  text: string | undefined;
  /** Functions and symbols that were left out. */
  dropped: number;
  /** True when {@link Shrink} cut something. */
  cut: boolean;
}

/** Thrown by `encodeValue` and by readers of its text; `reason` says which bound was hit. */
export class ValueLimit extends NewError {
  constructor(readonly reason: "size" | "depth" | "cycle" | "digits" | "keys") {
    super(reason);
  }
}
