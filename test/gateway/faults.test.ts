import { afterEach, describe, expect, it } from "vitest";
import { call, connectedTo, execute } from "./fixtures/clients.js";
import { closeGateways, gatewayOf, scripted, until } from "./fixtures/upstreams.js";

afterEach(closeGateways);

const DURATION_MS = 6_000;
const CLIENTS = 4;

/** Five calls of both servers; says what came of each. */
const SCRIPT = `const names = ["fragile__work", "steady__work", "fragile__work", "steady__work", "fragile__work"];
return await Promise.all(names.map((name) => call_tool(name).then(() => name + " ok", (error) => error.message)));`;

describe("an upstream that is killed every second while clients work", () => {
  it(
    "costs only its own calls: each ends with an answer or with an error that names it",
    { timeout: 60_000 },
    async () => {
      // oxlint-disable-next-line unicorn/no-thenable -- data for the fixture
      const work = { name: "work", on: { delayMs: 20, then: { text: "done" } } };
      const gateway = await gatewayOf({ fragile: scripted({ tools: [work] }), steady: scripted({ tools: [work] }) });
      const { url } = await gateway.listen();
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectedTo(`${url}/mcp/code`)));
      const end = performance.now() + DURATION_MS;
      let kills = 0;
      const killer = setInterval(() => {
        const pid = gateway.status().find(({ id }) => id === "fragile")?.pid;
        if (pid === undefined) return;
        kills++;
        process.kill(pid, "SIGKILL");
      }, 1_000);
      const outcomes: string[] = [];
      let slowest = 0;
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() < end) {
            const start = performance.now();
            outcomes.push(...(JSON.parse(await execute(client, SCRIPT)) as string[]));
            slowest = Math.max(slowest, performance.now() - start);
          }
        }),
      );
      clearInterval(killer);
      const fragile = outcomes.filter((_text, index) => index % 5 === 0 || index % 5 === 2 || index % 5 === 4);
      const steady = outcomes.filter((_text, index) => index % 5 === 1 || index % 5 === 3);
      expect(kills).toBeGreaterThan(2);
      expect(steady.every((text) => text === "steady__work ok")).toBe(true);
      expect(fragile.filter((text) => text !== "fragile__work ok" && !/"fragile"/.test(text))).toEqual([]);
      expect(fragile.filter((text) => text === "fragile__work ok").length).toBeGreaterThan(fragile.length / 4);
      // Nothing hung: not even for as long as one time limit.
      expect(slowest).toBeLessThan(10_000);
      await until(() => gateway.status().every(({ state }) => state === "ready"));
      expect(await call(clients[0] as never, "fragile__work")).toBe("done");
      await Promise.all(clients.map((client) => client.close()));
    },
  );
});

describe("a gateway with many upstreams", () => {
  it("is ready in about the time of the slowest, since all start at once", { timeout: 60_000 }, async () => {
    const delays = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_500];
    const servers = delays.map((initializeDelayMs, index) => {
      const spec = { tools: [{ name: "t", on: { text: String(index) } }], behaviour: { initializeDelayMs } };
      return [`s${index}`, scripted(spec)] as const;
    });
    const start = performance.now();
    const gateway = await gatewayOf(Object.fromEntries(servers));
    const ms = performance.now() - start;
    expect(gateway.status().every(({ state }) => state === "ready")).toBe(true);
    // The processes themselves start on few cores; one after the other they would take over 7 s.
    expect(ms).toBeLessThan(6_000);
    const { result } = await gateway.run(
      "return await Promise.all(Array.from({ length: 12 }, (_, index) => call_tool(`s${index}__t`)))",
    );
    expect(result).toEqual(delays.map((_delay, index) => String(index)));
  });
});
