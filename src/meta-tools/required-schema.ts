import type { CallContext } from "../catalog/tool.js";
import { shownName } from "../calls/parameters.js";
import { ToolCallError, ValidationError } from "../errors.js";
import type { HydratedTools } from "../session/hydration.js";
import { sessionKeyOf, type SessionKeyOption } from "../session/session-key.js";

/** What `requireSchema` needs to know of an engine. */
export interface RequiredSchemaParts {
  tools: HydratedTools;
  /** The host's own way to name a session. */
  key: SessionKeyOption | undefined;
  server: string | undefined;
  /** The meta-tool that shows schemas; undefined when there is none. */
  schemaTool(): string | undefined;
}

/** The rule that scripts may call only tools whose schema was asked for in their session. */
export class RequiredSchema {
  constructor(private readonly parts: RequiredSchemaParts) {}

  /**
   * Lets scripts of this session call these tools.
   *
   * @throws {LimitError} when they are too many.
   * @throws {ValidationError} where there is no session to remember it for.
   */
  async hydrate(names: readonly string[], context: CallContext): Promise<void> {
    const { key, note } = this.sessionOf(context);
    if (key === undefined) throw new ValidationError(`Schemas have to be asked for in a session. ${note}`);
    await this.parts.tools.add(key, names);
  }

  /** A check for the calls of one script. It rejects for a tool whose schema was not asked for before the script began. */
  checkFor(context: CallContext): (tool: string) => Promise<void> {
    const { key } = this.sessionOf(context);
    const allowed = key === undefined ? Promise.resolve(new Set<string>()) : this.parts.tools.of(key);
    // A store that fails must fail the call that asks, not the process.
    allowed.catch(() => {});
    return async (tool) => {
      if ((await allowed).has(tool)) return;
      const schemaTool = this.parts.schemaTool() ?? "the tool that shows schemas";
      throw new ToolCallError(
        `${shownName(tool)} cannot be called yet: ask for its schema with ${schemaTool} first, then run the script again.`,
        { details: { tool } },
      );
    };
  }

  private sessionOf({ callerId, sessionId, connection, authInfo }: CallContext): ReturnType<typeof sessionKeyOf> {
    const { server, key } = this.parts;
    return sessionKeyOf({ server, callerId, sessionId, connection, authInfo }, key);
  }
}
