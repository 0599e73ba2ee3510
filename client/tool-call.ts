/** What a host says of one call of a tool. */
export interface ToolCall {
  /** The host's id of the call: the same id again is the same checkpoint. */
  id: string;
  name: string;
  input?: unknown;
  /** True: it changes nothing, whatever its name says. Absent: decided by name and input; unknown is a write. */
  readOnly?: boolean;
  /** True: it has run already, without a checkpoint before it. What it did is in the next one, as work of its message. */
  hasRun?: boolean;
  /** Of the host, for this call: a call that was given up before it began does not begin. */
  signal?: AbortSignal | undefined;
  /** Why there is a checkpoint, for people; default `before-tool: <name>`, or `late: <name> had run`. */
  reason?: string;
}
