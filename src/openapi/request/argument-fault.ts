/** JSON-RPC: the arguments do not fit. Callers add what the tool takes. */
const INVALID_PARAMS = -32602;

/** An argument that cannot be sent, written for whoever gave it. Nothing has been sent. */
export class ArgumentFault extends Error {
  override readonly name = "ArgumentFault";
  readonly code = INVALID_PARAMS;
}
