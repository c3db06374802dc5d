// The public surface of mcp-codemode/testing: what users need to test their own sandboxes, stores and tools, without a test framework.

export { sandboxConformance } from "./testing/sandbox-conformance.js";
export type { ConformanceOptions, ConformanceResult } from "./testing/sandbox-conformance.js";
export { storeConformance } from "./testing/store-conformance.js";
export { fakeSource } from "./testing/fake-source.js";
export type { FakeCall, FakeHandler, FakeSource, FakeTool } from "./testing/fake-source.js";
