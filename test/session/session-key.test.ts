import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/errors.js";
import { sessionKeyOf, type SessionFacts } from "../../src/session/session-key.js";

const base: SessionFacts = { server: "demo", callerId: 'client:["a"]', sessionId: "s1" };

describe("sessionKeyOf", () => {
  it("gives the same key for the same server, caller and session", () => {
    expect(sessionKeyOf({ ...base }).key).toBe(sessionKeyOf({ ...base, authInfo: { token: "renewed" } }).key);
  });

  it("gives another key as soon as one of them differs", () => {
    const others: SessionFacts[] = [
      base,
      { ...base, server: "other" },
      { ...base, server: undefined },
      { ...base, callerId: 'client:["b"]' },
      { ...base, callerId: undefined },
      { ...base, callerId: "null" },
      { ...base, sessionId: "s2" },
      { ...base, sessionId: undefined, connection: "s1" },
      { ...base, server: 'demo","x', callerId: undefined },
    ];
    const keys = others.map((facts) => sessionKeyOf(facts).key);
    const hosts = others.map((facts) => sessionKeyOf(facts, () => "s1").key);
    expect(new Set(keys).size).toBe(others.length);
    // The host's key takes the place of the session: two of the facts differ in nothing else.
    expect(new Set([...keys, ...hosts]).size).toBe(others.length * 2 - 2);
  });

  it("gives none, and says why, where a client has neither session nor connection", () => {
    for (const facts of [{}, { server: "demo", callerId: "a" }, { sessionId: "" }, { connection: "" }]) {
      expect(sessionKeyOf(facts)).toEqual({ key: undefined, note: expect.stringContaining("session.key") as string });
    }
  });

  it("keeps callers apart who share a host's key", () => {
    const hostKey = (): string => "everybody";
    expect(sessionKeyOf({ callerId: "a" }, hostKey).key).not.toBe(sessionKeyOf({ callerId: "b" }, hostKey).key);
  });

  it("asks the host with what it knows of the caller, and takes no session when it names none", () => {
    const asked: unknown[] = [];
    const hostKey = (caller: unknown): undefined => {
      asked.push(caller);
      return undefined;
    };
    const result = sessionKeyOf({ ...base, authInfo: { clientId: "a" } }, hostKey);
    expect(asked).toEqual([{ authInfo: { clientId: "a" }, sessionId: "s1" }]);
    expect(result).toEqual({ key: undefined, note: expect.stringContaining("named no session") as string });
    expect(sessionKeyOf(base, () => "").key).toBeUndefined();
  });

  it("refuses a host's key that is no text", () => {
    expect(() => sessionKeyOf(base, (() => 7) as never)).toThrow(ConfigurationError);
  });

  it("shows no word of what it was made of", () => {
    expect(sessionKeyOf({ server: "demo", callerId: "alice", sessionId: "secret-id" }).key).toMatch(
      /^session\/[0-9a-f]{64}$/,
    );
  });
});
