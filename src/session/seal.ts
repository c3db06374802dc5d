import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { CodeModeError, ConfigurationError } from "../errors.js";

/**
 * Bytes are not what this process, or one with the same `secret`, made: cut, changed, made with another secret, or for
 * another purpose. The message never holds the secret or the bytes.
 */
export class SealError extends CodeModeError {
  override readonly name = "SealError";
  constructor(why: "malformed" | "unknown key" | "changed", what: string) {
    super("sandbox", `${what} ${REASONS[why]}`, { details: { why } });
  }
}

const REASONS = {
  malformed: "is too short, or of another version of this package.",
  "unknown key":
    "was made with another secret: by a process without the option `secret` (its key ends with it), or with a secret that is no longer given.",
  changed: "was changed, or was made for another purpose.",
};

const FORMAT = 1;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const MAC_BYTES = 32;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const SEAL_HEAD_BYTES = 1 + KEY_ID_BYTES + SALT_BYTES;
const SIGN_HEAD_BYTES = 1 + KEY_ID_BYTES + MAC_BYTES;

/** How much longer {@link Sealer.seal} makes bytes. */
export const SEAL_OVERHEAD_BYTES = SEAL_HEAD_BYTES + TAG_BYTES;

/** Guessed offline as soon as somebody holds a sealed record; hence a key and no password. */
const MIN_SECRET_CHARACTERS = 16;

interface Key {
  id: Buffer;
  root: Buffer;
}

/**
 * Seals (AES-256-GCM) and signs (HMAC-SHA-256) bytes with keys made from the option `secret`. The first secret makes,
 * all open: secrets can be rotated.
 *
 * Each purpose has keys of its own, so bytes made for one never open as another. `boundTo` ties bytes to a place (a run,
 * a caller, a file) without storing it: only who names the same place opens them.
 */
export class Sealer {
  // Private at run time too: a sealer that ends up in a log shows nothing.
  readonly #keys: readonly Key[];
  readonly #macKeys = new Map<string, Buffer>();

  /** @param roots Keys of 32 bytes; the first one makes. Use {@link sealerFor}. */
  constructor(roots: readonly Uint8Array[]) {
    this.#keys = roots.map((given) => {
      const root = Buffer.from(given);
      return { root, id: createHmac("sha256", root).update("key id").digest().subarray(0, KEY_ID_BYTES) };
    });
  }

  /** True when `made` is of the first secret; false for an older one, which it is time to write again. */
  isCurrent(made: Uint8Array): boolean {
    return this.#current.id.equals(made.subarray(1, 1 + KEY_ID_BYTES));
  }

  /** Bytes that nobody else can read or change. {@link SEAL_OVERHEAD_BYTES} longer than they were. */
  seal(purpose: string, bytes: Uint8Array, boundTo: Uint8Array | string = ""): Uint8Array {
    const { id, root } = this.#current;
    const head = Buffer.concat([Buffer.of(FORMAT), id, randomBytes(SALT_BYTES)]);
    const { key, nonce } = messageKey(root, purpose, head.subarray(-SALT_BYTES));
    const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundHead(head, boundTo));
    const body = [cipher.update(bytes), cipher.final()];
    return Buffer.concat([head, cipher.getAuthTag(), ...body]);
  }

  /**
   * What {@link seal} was given.
   *
   * @throws {SealError} for anything else.
   */
  open(purpose: string, sealed: Uint8Array, boundTo: Uint8Array | string = ""): Uint8Array {
    const what = `The sealed record (${purpose})`;
    if (sealed.length < SEAL_OVERHEAD_BYTES || sealed[0] !== FORMAT) throw new SealError("malformed", what);
    const head = sealed.subarray(0, SEAL_HEAD_BYTES);
    const tag = sealed.subarray(SEAL_HEAD_BYTES, SEAL_OVERHEAD_BYTES);
    const candidates = this.#keysOf(head, what);
    for (const { root } of candidates) {
      const { key, nonce } = messageKey(root, purpose, head.subarray(-SALT_BYTES));
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundHead(head, boundTo)).setAuthTag(tag);
      const opened = decipher.update(sealed.subarray(SEAL_OVERHEAD_BYTES));
      if (isAuthentic(decipher)) return opened;
    }
    throw new SealError("changed", what);
  }

  /** Bytes that nobody else can change; everybody can read them. For large ones: nothing is encrypted. */
  sign(purpose: string, bytes: Uint8Array, boundTo: Uint8Array | string = ""): Uint8Array {
    const key = this.#current;
    return Buffer.concat([Buffer.of(FORMAT), key.id, this.#mac(key, purpose, bytes, boundTo), bytes]);
  }

  /**
   * What {@link sign} was given, as a view of the same memory.
   *
   * @throws {SealError} for anything else, before a single byte of it was looked at.
   */
  verify(purpose: string, signed: Uint8Array, boundTo: Uint8Array | string = ""): Uint8Array {
    const what = `The signed record (${purpose})`;
    if (signed.length < SIGN_HEAD_BYTES || signed[0] !== FORMAT) throw new SealError("malformed", what);
    const mac = signed.subarray(1 + KEY_ID_BYTES, SIGN_HEAD_BYTES);
    const bytes = signed.subarray(SIGN_HEAD_BYTES);
    for (const key of this.#keysOf(signed, what)) {
      if (timingSafeEqual(mac, this.#mac(key, purpose, bytes, boundTo))) return bytes;
    }
    throw new SealError("changed", what);
  }

  get #current(): Key {
    const [first] = this.#keys;
    if (first === undefined) throw new ConfigurationError("A sealer needs at least one key.");
    return first;
  }

  /** Two secrets may share an id by chance, so there may be more than one. */
  #keysOf(made: Uint8Array, what: string): readonly Key[] {
    const id = made.subarray(1, 1 + KEY_ID_BYTES);
    const keys = this.#keys.filter((key) => key.id.equals(id));
    if (keys.length === 0) throw new SealError("unknown key", what);
    return keys;
  }

  #mac(key: Key, purpose: string, bytes: Uint8Array, boundTo: Uint8Array | string): Buffer {
    const name = `${key.id.toString("hex")} ${purpose}`;
    let macKey = this.#macKeys.get(name);
    if (macKey === undefined) {
      macKey = derive(key.root, Buffer.alloc(0), `sign ${purpose}`, KEY_BYTES);
      this.#macKeys.set(name, macKey);
    }
    return createHmac("sha256", macKey)
      .update(boundHead(Buffer.of(FORMAT), boundTo))
      .update(bytes)
      .digest();
  }
}

/** A key per message: then a nonce, which comes from the same salt, can never meet its key twice. */
function messageKey(root: Buffer, purpose: string, salt: Uint8Array): { key: Buffer; nonce: Buffer } {
  const derived = derive(root, salt, `seal ${purpose}`, KEY_BYTES + NONCE_BYTES);
  return { key: derived.subarray(0, KEY_BYTES), nonce: derived.subarray(KEY_BYTES) };
}

/** With its length in front, so that no place can be made to read like another one followed by bytes. */
function boundHead(head: Uint8Array, boundTo: Uint8Array | string): Buffer {
  const place = typeof boundTo === "string" ? Buffer.from(boundTo) : boundTo;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(place.length);
  return Buffer.concat([head, length, place]);
}

function isAuthentic(decipher: { final(): Buffer }): boolean {
  try {
    decipher.final();
    return true;
  } catch {
    return false;
  }
}

const derive = (root: Uint8Array, salt: Uint8Array, info: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", root, salt, info, bytes));

let ofThisProcess: Sealer | undefined;

/**
 * The sealer of an option `secret`: one secret, or several of which the first one makes and all open. Undefined: a random
 * key that ends with this process.
 *
 * @throws {ConfigurationError} for anything but texts of at least 16 characters. The message holds no part of them.
 */
export function sealerFor(secret: string | readonly string[] | undefined): Sealer {
  if (secret === undefined) return (ofThisProcess ??= new Sealer([randomBytes(KEY_BYTES)]));
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isSecret)) {
    throw new ConfigurationError(
      `secret must be a text of at least ${MIN_SECRET_CHARACTERS} characters, or a list of such texts (the first one ` +
        "encrypts, all decrypt). Make one with: openssl rand -base64 32",
    );
  }
  return new Sealer(
    (secrets as string[]).map((text) => derive(Buffer.from(text), Buffer.from("mcp-codemode"), "root", KEY_BYTES)),
  );
}

const isSecret = (secret: unknown): boolean => typeof secret === "string" && secret.length >= MIN_SECRET_CHARACTERS;
