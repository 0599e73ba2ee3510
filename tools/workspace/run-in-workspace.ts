import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { commitment } from '../../contract/workspace-inputs.ts';
import { requireActive, requireSession } from '../../core/checkpoint/session/session-rules.ts';
import { defineTool, type Tool, type ToolCall } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { REVIEW_BY } from '../review-date.ts';
import { isGone, isLeftBehind, keptIn, orPerson } from './taking-back.ts';
import { TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, requestOf, type Uses } from './uses.ts';

/** Kept back of the call for the checkpoints before and after the command. */
const RESERVE_SECONDS = 15;
const MOST_SECONDS = 480;

/** The checkpoint after the command says in its reason how it ended, so that a lost answer is found again. */
const reasonFor = (exitCode: number): string => `ran: exit code ${exitCode}`;
const exitCodeIn = (reason: string): number | undefined => {
  const match = /^ran: exit code (\d+)$/.exec(reason);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};

const output = z.object({
  exitCode: z.int(),
  before: z.string().describe('the checkpoint before it'),
  after: z.string().describe('the checkpoint after it'),
  output: z.string().describe('what it wrote; empty when its answer was lost'),
  isCut: z.boolean(),
});

const input = z.strictObject({
  ...commitment().pick({ command: true, cwd: true, expectExitCode: true }).shape,
  sessionId: id,
  messageId: id.optional().describe('whose work it is; default: the step'),
  timeoutSeconds: z.int().min(1).max(MOST_SECONDS).default(60),
});

/** A command in a session's sandbox, between two checkpoints. Undone by a rollback to the first. */
export const runInWorkspace = ({ checkpoint, rollback, ports }: Uses): Tool => {
  const { store, sandboxes, workspaces } = ports;
  const beforeId = (key: string): string => `${requestOf(key)}.b`;
  const afterId = (key: string): string => `${requestOf(key)}.a`;

  const takeBack = async (sessionId: string, call: ToolCall): Promise<string | undefined> => {
    const before = await store.findCheckpointByTool(sessionId, beforeId(call.forwardKey));
    if (before === undefined) return undefined;
    const { checkpointId } = before;
    const requestId = `${requestOf(call.forwardKey)}.undo`;
    const after = await store.findCheckpointByTool(sessionId, afterId(call.forwardKey));
    const last = { checkpointId: after?.checkpointId ?? checkpointId, begin: checkpointId, requestId };
    if (await isLeftBehind(store, sessionId, last)) return undefined;
    await rollback({ sessionId, checkpointId, requestId }, invocationOf(call));
    return checkpointId;
  };

  return defineTool({
    name: 'run_in_workspace',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description:
      'Runs a command in the sandbox of a session, after a checkpoint. Undone by rollback_workspace.',
    effect: 'compensatable',
    timeoutSeconds: TIMEOUT_SECONDS,
    resourceKey: "'workspace ' & sessionId",
    input,
    output,
    externalRef: ({ before }) => before,
    execute: async ({ sessionId, messageId, command, cwd, timeoutSeconds, expectExitCode }, call) => {
      const whose = messageId ?? requestOf(call.forwardKey);
      const take = (of: { messageId: string } | { forMessageId: string }, id: string, reason: string) =>
        checkpoint({ sessionId, ...of, toolExecutionId: id, reason }, invocationOf(call));
      const session = await refusing(async () => {
        const found = await requireSession(store, sessionId);
        requireActive(found);
        return found;
      });
      // Begun only when it may take its whole time: what is cut off has to be taken back.
      if (call.remainingMs() < (timeoutSeconds + RESERVE_SECONDS) * 1000) {
        throw new ToolRejected('DeadlinePassed', 'There is too little time left for the command.', {
          retryable: true,
        });
      }
      const before = await refusing(() =>
        take({ forMessageId: whose }, beforeId(call.forwardKey), 'before-tool'),
      );
      await call.fence();
      const sandbox = await sandboxes.open(session.sandboxId);
      const report = await workspaces.runCommand(sandbox, {
        projectsRoot: session.projectsRoot,
        command,
        directory: cwd ?? '.',
        seconds: timeoutSeconds,
      });
      if (report.kind === 'no-directory') {
        throw new ToolRejected('CommandFailed', `There is no directory ${cwd ?? '.'} in the workspace.`);
      }
      const { exitCode, tail } = report;
      const told = tail === undefined ? report.output : `${report.output}\n[...]\n${tail}`;
      if (exitCode !== expectExitCode) {
        // What it did is taken back first: a rejection says that nothing is left of it.
        await takeBack(sessionId, call);
        const last = told.trimEnd().split('\n').slice(-5).join('\n').slice(-600);
        throw new ToolRejected(
          'CommandFailed',
          `It ended with exit code ${exitCode}, not ${expectExitCode}, and was taken back: ${last}`,
        );
      }
      const after = await take({ messageId: whose }, afterId(call.forwardKey), reasonFor(exitCode));
      return {
        exitCode,
        before: before.checkpointId,
        after: after.checkpointId,
        output: told,
        isCut: tail !== undefined,
      };
    },
    probe: async ({ sessionId }, call) => {
      const before = await store.findCheckpointByTool(sessionId, beforeId(call.forwardKey));
      if (before === undefined) return { happened: false };
      const after = await store.findCheckpointByTool(sessionId, afterId(call.forwardKey));
      const exitCode = after && exitCodeIn(after.reason);
      // The command may have run, or a part of it: it is taken back by its key.
      if (after === undefined || exitCode === undefined) return { happened: 'unknown' };
      const ids = { before: before.checkpointId, after: after.checkpointId };
      return { happened: true, result: { exitCode, ...ids, output: '', isCut: true } };
    },
    compensate: {
      name: 'rollback_workspace',
      timeoutSeconds: TIMEOUT_SECONDS,
      execute: async ({ arguments: { sessionId }, ...undo }, call) => {
        if (await isGone(store, sessionId, undo)) return {};
        const before = await store.findCheckpointByTool(sessionId, beforeId(call.forwardKey));
        if (before === undefined) return {};
        const reference = keptIn(before.checkpointId, sessionId);
        const externalRef = await orPerson({ store, sessionId, reference }, () => takeBack(sessionId, call));
        return externalRef === undefined ? {} : { externalRef };
      },
    },
  });
};
