/** What a host says about one call of a tool. */
export interface ToolCall {
  /** The host's id of the call: the same id again is the same checkpoint. */
  id: string;
  name: string;
  input?: unknown;
  /**
   * True: it changes nothing, whatever its name says. Absent: name and input decide; an unknown call is a
   * write.
   */
  readOnly?: boolean;
  /**
   * True: it has run already, without a checkpoint before it. Its work is in the next checkpoint, as work of
   * its message.
   */
  hasRun?: boolean;
  /** The host's signal for this call: a call that was given up before it began does not begin. */
  signal?: AbortSignal | undefined;
  /** Why there is a checkpoint, for people; default `before-tool: <name>`, or `late: <name> had run`. */
  reason?: string;
}
