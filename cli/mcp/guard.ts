/** The run of one MCP connection: the protocol has no turns, so each connection is one. */
import { isWalkbackError } from '../../client/errors.ts';
import type { OnCheckpointError, Run } from '../../client/run.ts';
import type { Session } from '../../client/session.ts';
import type { ToolCall } from '../../client/tool-call.ts';

export interface Guard {
  /** Takes the checkpoint before a tool. Throws when the tool must not run. */
  before(call: ToolCall): Promise<void>;
  /** The checkpoint after the last tool, if any ran. */
  finish(): Promise<void>;
}

export interface GuardOptions {
  /** Opened with the first tool that changes something. */
  openSession: () => Promise<Session>;
  messageId: string;
  onCheckpointError: OnCheckpointError;
  /** With `warn`: called for each tool that runs without a checkpoint. */
  tell: (text: string) => void;
}

export const createGuard = ({ openSession, messageId, onCheckpointError, tell }: GuardOptions): Guard => {
  let running: Promise<Run> | undefined;
  const warn = (name: string, error: unknown): void =>
    tell(`${name} runs without a checkpoint before it. ${String(error)}`);

  const begin = async (): Promise<Run> =>
    (await openSession()).run({
      message: { id: messageId },
      onCheckpointError,
      onWarning: ({ call, error }) => warn(call.name, error),
    });

  const runOf = (): Promise<Run> => {
    const run = running ?? begin();
    running = run;
    run.catch(() => {
      if (running === run) running = undefined;
    });
    return run;
  };

  return {
    before: async (call) => {
      if (call.readOnly === true) return;
      let run: Run;
      try {
        run = await runOf();
      } catch (error) {
        if (onCheckpointError === 'block' || !isWalkbackError(error)) throw error;
        warn(call.name, error);
        return;
      }
      await run.before(call);
    },
    finish: async () => {
      await (await running)?.finish();
    },
  };
};
