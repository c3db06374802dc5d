import type { GuestConfig } from "../protocol.js";

/** The configuration of this run. Replaced as a whole by `begin`. */
export const config: GuestConfig = {
  functions: [],
  maxLogBytes: 0,
  maxResultBytes: 0,
  maxArgumentBytes: 0,
  maxBridgeMessages: 0,
  truncate: false,
};
