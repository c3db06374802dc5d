import { describe, expect, it } from "vitest";
import { openApiSource, type OpenApiSourceOptions } from "../../src/openapi.js";

interface Operation {
  method?: string;
  path: string;
  operationId?: string;
  summary?: string;
  tags?: string[];
}

function documentWith(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method = "get", path, ...operation } of operations) (paths[path] ??= {})[method] = operation;
  return { openapi: "3.1.0", info: {}, servers: [{ url: "http://localhost" }], paths };
}

async function namesOf(operations: readonly Operation[], options: OpenApiSourceOptions = {}): Promise<string[]> {
  const { tools } = await openApiSource(documentWith(operations), options).load();
  return tools.map(({ name }) => name);
}

describe("names of tools", () => {
  it("are the operationId, else the summary, else method and path", async () => {
    const names = await namesOf([
      { path: "/a", operationId: "issues/list-for-repo" },
      { path: "/b", operationId: "getUserById" },
      { path: "/c", summary: "List all Caf\u00e9s!" },
      { method: "delete", path: "/users/{id}/keys" },
      { path: "/d", operationId: "\u4f60\u597d" },
    ]);
    expect(names).toEqual(["issues_list_for_repo", "getUserById", "list_all_cafes", "delete_users_id_keys", "get_d"]);
  });

  it("are given once: a name that is taken gets a hash of method and path, the same on every import", async () => {
    const operations = [
      { path: "/a", operationId: "get" },
      { path: "/b", operationId: "get" },
      { path: "/c", operationId: "get" },
    ];
    const names = await namesOf(operations);
    expect(new Set(names).size).toBe(3);
    expect(names[0]).toBe("get");
    expect(names[1]).toMatch(/^get_[0-9a-f]{8}$/);
    expect(await namesOf(operations)).toEqual(names);
  });

  it("have at most 64 characters, and stay apart where only the end differs", async () => {
    const long = "a".repeat(70);
    const names = await namesOf([
      { path: "/a", operationId: `${long}/one` },
      { path: "/b", operationId: `${long}/two` },
    ]);
    expect(names.map(({ length }) => length)).toEqual([64, 64]);
    expect(names[0]).not.toBe(names[1]);
  });

  it("take no prototype along", async () => {
    expect(
      await namesOf([
        { path: "/a", operationId: "constructor" },
        { path: "/b", operationId: "__proto__" },
      ]),
    ).toEqual(["constructor", "proto"]);
  });
});

describe("routes", () => {
  const operations = [
    { path: "/issues", operationId: "list", tags: ["issues"] },
    { method: "post", path: "/issues", operationId: "create", tags: ["issues"] },
    { path: "/admin/users", operationId: "users", tags: ["admin"] },
  ];

  it("exclude operations by path, method, tag, id or any condition; the first rule that fits decides", async () => {
    expect(await namesOf(operations, { routes: [{ path: /^\/admin\//, exclude: true }] })).toEqual(["list", "create"]);
    expect(await namesOf(operations, { routes: [{ methods: ["post"], exclude: true }] })).toEqual(["list", "users"]);
    expect(await namesOf(operations, { routes: [{ tags: ["admin"] }, { exclude: true }] })).toEqual(["users"]);
    expect(await namesOf(operations, { routes: [{ operationId: "list" }, { exclude: true }] })).toEqual(["list"]);
    expect(await namesOf(operations, { routes: [{ when: ({ path }) => path.length > 8, exclude: true }] })).toEqual([
      "list",
      "create",
    ]);
  });

  it("do not depend on where a global pattern matched last", async () => {
    const twice = [
      { path: "/admin/a", operationId: "a" },
      { path: "/admin/b", operationId: "b" },
    ];
    expect(await namesOf(twice, { routes: [{ path: /admin/g, exclude: true }] })).toEqual([]);
  });

  it("rename, tag and annotate", async () => {
    const source = openApiSource(documentWith(operations), {
      routes: [
        { operationId: "create", name: "new issue", annotations: { destructiveHint: true } },
        { tags: ["issues"], name: ({ operationId }) => `issues_${operationId}`, addTags: ["tracker"] },
      ],
    });
    const { tools } = await source.load();
    expect(tools.map(({ name }) => name)).toEqual(["issues_list", "new_issue", "users"]);
    expect(tools[0]?._meta).toEqual({ "mcp-codemode/tags": ["issues", "tracker"] });
    expect(tools[1]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  });

  it("leave what the methods say: GET reads, DELETE destroys", async () => {
    const { tools } = await openApiSource(
      documentWith([
        { path: "/a", operationId: "a" },
        { method: "delete", path: "/a", operationId: "b" },
        { method: "put", path: "/a", operationId: "c" },
      ]),
    ).load();
    expect(tools.map(({ annotations }) => annotations)).toMatchObject([
      { readOnlyHint: true },
      { readOnlyHint: false, destructiveHint: true },
      { readOnlyHint: false, idempotentHint: true },
    ]);
  });
});

describe("descriptions", () => {
  const described = async (operation: object) => {
    const { tools } = await openApiSource(documentWith([{ path: "/a", operationId: "a", ...operation }])).load();
    const [tool] = tools;
    return [tool?.title, tool?.description, tool?.inputSchema["description"]];
  };

  it("are those of the operation, else its summary, else method and path", async () => {
    expect(await described({ summary: "Short", description: "Long" })).toEqual(["Short", "Long", undefined]);
    expect(await described({ summary: "Short" })).toEqual(["Short", "Short", undefined]);
    expect(await described({})).toEqual([undefined, "GET /a", undefined]);
    expect((await described({ summary: "Old", deprecated: true }))[1]).toBe("Deprecated. Old");
  });

  it("that are long lead with their first paragraph; the rest stands with the parameters", async () => {
    const notes = `Needs scopes.\n\n${"Media types. ".repeat(30)}`.trim();
    expect(await described({ description: `Lists things.\nOpen ones.\n\n${notes}` })).toEqual([
      undefined,
      "Lists things.\nOpen ones.",
      notes,
    ]);
    expect((await described({ description: `# Things\n\nLists things.\n\n${notes}` }))[1]).toBe(
      "# Things\n\nLists things.",
    );
    expect((await described({ description: "One. ".repeat(100) }))[1]).toBe("One. ".repeat(100).trim());
  });
});

describe("options", () => {
  it("that are unknown are refused with the nearest one", () => {
    const document = documentWith([]);
    expect(() => openApiSource(document, { baseURL: "http://x" } as never)).toThrow(/"baseURL".*baseUrl/);
    expect(() => openApiSource(document, { routes: [{ method: ["get"] } as never] })).toThrow(
      /routes\[0\]\.method.*methods/,
    );
    expect(() => openApiSource(document, { baseUrl: "/api" })).toThrow(/full URL/);
    expect(() => openApiSource(document, { timeoutMs: 0 })).toThrow(/timeoutMs/);
  });
});
