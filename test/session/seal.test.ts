import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { SealError, sealerFor } from "../../src/session/seal.js";

const SECRET = "a secret of some length";
const bytes = Buffer.from("pending calls, spent limits, caller");
const sealer = sealerFor(SECRET);

type Way = { made: "seal" | "sign"; read: "open" | "verify" };
const WAYS: readonly Way[] = [
  { made: "seal", read: "open" },
  { made: "sign", read: "verify" },
];

describe.each(WAYS)("what $made made", ({ made, read }) => {
  it("comes back from another sealer of the same secret", () => {
    for (const given of [bytes, new Uint8Array(), Buffer.alloc(100_000, 7)]) {
      const back = sealerFor(SECRET)[read]("run", sealer[made]("run", given, "id 1"), "id 1");
      expect(Buffer.from(back).equals(given)).toBe(true);
    }
  });

  it("never opens for another purpose, or bound to another place", () => {
    const token = sealer[made]("request-state", bytes, "run 1");
    for (const [purpose, place] of [
      ["run", "run 1"],
      ["request-state", "run 2"],
      ["request-state", ""],
      ["request", "-staterun 1"],
    ] as const) {
      expect(() => sealer[read](purpose, token, place)).toThrow(SealError);
    }
    expect(Buffer.from(sealer[read]("request-state", token, Buffer.from("run 1"))).equals(bytes)).toBe(true);
  });

  it("does not open when any single bit was changed, or an end was cut or added", () => {
    const token = Buffer.from(sealer[made]("run", bytes));
    for (let bit = 0; bit < token.length * 8; bit++) {
      const changed = Buffer.from(token);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer[read]("run", changed), `bit ${bit}`).toThrow(SealError);
    }
    for (let length = 0; length < token.length; length++) {
      expect(() => sealer[read]("run", token.subarray(0, length)), `${length} bytes`).toThrow(SealError);
    }
    expect(() => sealer[read]("run", Buffer.concat([token, Buffer.of(0)]))).toThrow(SealError);
  });

  it("opens with a secret that is no longer the first, and not with one that is gone", () => {
    const old = sealerFor("the secret of last year")[made]("run", bytes);
    const rotated = sealerFor([SECRET, "the secret of last year"]);
    expect(Buffer.from(rotated[read]("run", old)).equals(bytes)).toBe(true);
    expect(rotated.isCurrent(old)).toBe(false);
    const recent = rotated[made]("run", bytes);
    expect(rotated.isCurrent(recent)).toBe(true);
    expect(Buffer.from(sealer[read]("run", recent)).equals(bytes)).toBe(true);
    expect(() => sealer[read]("run", old)).toThrow(/made with another secret/);
  });

  it("does not read as the other way's", () => {
    const other = made === "seal" ? sealer.sign("run", bytes) : sealer.seal("run", bytes);
    expect(() => sealer[read]("run", other)).toThrow(SealError);
  });

  it("cannot be opened by another process when there is no secret", () => {
    const token = sealerFor(undefined)[made]("run", bytes);
    expect(Buffer.from(sealerFor(undefined)[read]("run", token)).equals(bytes)).toBe(true);
    expect(() => sealer[read]("run", token)).toThrow(/without the option `secret`/);
  });
});

describe("a sealed record", () => {
  it("shows nothing of the bytes and is different each time", () => {
    const [first, second] = [sealer.seal("run", bytes), sealer.seal("run", bytes)].map((token) => Buffer.from(token));
    expect(first?.includes("caller")).toBe(false);
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
  });
});

describe("a secret", () => {
  it("shows in no error and in no print of a sealer", () => {
    const error = ((): unknown => {
      try {
        return sealer.open("run", sealerFor("the secret of last year").seal("run", bytes));
      } catch (thrown) {
        return thrown;
      }
    })();
    const shown = [
      inspect(sealer, { depth: 9, showHidden: true }),
      JSON.stringify(sealer),
      inspect(error, { depth: 9 }),
    ];
    for (const text of shown) expect(text).not.toMatch(/some length|last year|<Buffer/);
  });

  it.each([["short"], [""], [[]], [["long enough, this one", "short"]], [42], [null], [[42]]])(
    "like %j is refused without repeating it",
    (secret) => {
      expect(() => sealerFor(secret as never)).toThrow(ConfigurationError);
      expect(() => sealerFor(secret as never)).toThrow("openssl rand -base64 32");
      expect(() => sealerFor(secret as never)).not.toThrow(/short|42/);
    },
  );
});
