/** What a host says of one call of a tool. */
export interface ToolCall {
  /** The host's id of the call: the same id again is the same checkpoint. */
  id: string;
  name: string;
  input?: unknown;
  /** True: it changes nothing, whatever its name says. Absent: decided by name and input; unknown is a write. */
  readOnly?: boolean;
  /** Why there is a checkpoint, for people; default `before-tool: <name>`. `late`: the tool may have begun already. */
  reason?: string;
}
