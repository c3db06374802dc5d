import { exported, factory, type Options } from "./config.js";

/** A tool as a serializer gets it. */
export interface ShownTool {
  name: string;
  [key: string]: unknown;
}

/** What a serializer is told besides the tools. */
export interface ShownContext {
  total: number;
  /** How scripts call the tools: name -> identifier. */
  identifiers?: ReadonlyMap<string, string> | undefined;
}

type Serializer = (tools: ShownTool[], context: ShownContext) => unknown;

/** What the last search gave to the serializer: the tools it found, before they became text. */
export class SearchTap {
  tools: readonly ShownTool[] = [];
  context: ShownContext = { total: 0 };

  reset(): void {
    this.tools = [];
    this.context = { total: 0 };
  }

  /** The options with their serializer (or the default one) wrapped: it prints as before, and is listened to. */
  wrap(options: Options): Options {
    const inner = (options["searchResultSerializer"] ?? defaultSerializer()) as Serializer;
    // A proxy, since the library's own serializers carry marks.
    const tapped = new Proxy(inner, {
      apply: (target, self, [tools, context]: [ShownTool[], ShownContext]) => {
        this.tools = [...tools];
        this.context = context;
        return Reflect.apply(target, self, [tools, context]) as unknown;
      },
    });
    return { ...options, searchResultSerializer: tapped };
  }
}

/** The serializer that is in force when none is given. */
function defaultSerializer(): unknown {
  return factory("gradedSerializer" in exported ? "gradedSerializer" : "typescriptSerializer")();
}
