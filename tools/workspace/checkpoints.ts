/** The tools that take a checkpoint: of work to come, of work that is done, and of a target before work is merged into it. */
import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { defineTool, type Tool, type ToolCall } from '../../kit/define-tool.ts';
import { REVIEW_BY } from '../review-date.ts';
import { isGone, isLeftBehind, keptIn, orPerson } from './taking-back.ts';
import { KNOWN_SECONDS, TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, requestOf, type Uses } from './uses.ts';

/** Of all sagas of a project, one at a time applies work: its key stands for the project, which locks belong to anyway. */
export const APPLY_KEY = "'apply'";

const output = z.object({ sessionId: z.string(), checkpointId: z.string() });
const sessionId = id.describe('the workspace, or the session that work is to come into');

/** The same call answers the same checkpoint, whatever came since. */
const checkpointOf =
  ({ checkpoint, ports: { store } }: Uses) =>
  async (
    input: { sessionId: string; messageId?: string | undefined; message?: Message | undefined },
    reason: string,
    call: ToolCall,
  ): Promise<z.output<typeof output>> => {
    const toolExecutionId = requestOf(call.forwardKey);
    const { sessionId: of, message } = input;
    const known = await store.findCheckpointByTool(of, toolExecutionId);
    if (known !== undefined) return { sessionId: of, checkpointId: known.checkpointId };
    const made = await checkpoint(
      {
        sessionId: of,
        messageId: input.messageId,
        toolExecutionId,
        reason,
        ...(message !== undefined && { message }),
      },
      invocationOf(call),
    );
    return { sessionId: of, checkpointId: made.checkpointId };
  };

const message = z
  .strictObject({
    role: z.string().min(1).max(64),
    title: z.string().max(512).optional(),
    text: z.string().max(16_384).optional(),
  })
  .describe('what the message says, to be read later');
type Message = z.output<typeof message>;

export const checkpointWorkspace = (uses: Uses): Tool =>
  defineTool({
    name: 'checkpoint_workspace',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description:
      'Takes a checkpoint of a session, with what a message says. Nothing of the session is changed.',
    effect: 'read',
    timeoutSeconds: TIMEOUT_SECONDS,
    input: z.strictObject({
      sessionId,
      messageId: id.optional().describe('whose work it is; default: where the session stands'),
      message: message.optional(),
    }),
    output,
    externalRef: ({ checkpointId }) => checkpointId,
    execute: (input, call) => refusing(() => checkpointOf(uses)(input, 'of-step', call)),
  });

/** What is taken back is everything since, whoever did it: what the agent did by tools, and by itself. */
export const beginWork = (uses: Uses): Tool =>
  defineTool({
    name: 'begin_work',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Takes a checkpoint that work in a workspace begins at. Undone by take_back_work.',
    effect: 'compensatable',
    timeoutSeconds: TIMEOUT_SECONDS,
    idempotencyWindowSeconds: KNOWN_SECONDS,
    resourceKey: "'workspace ' & sessionId",
    input: z.strictObject({ sessionId }),
    output,
    externalRef: ({ checkpointId }) => checkpointId,
    execute: (input, call) => refusing(() => checkpointOf(uses)(input, 'before-work', call)),
    compensate: {
      name: 'take_back_work',
      timeoutSeconds: TIMEOUT_SECONDS,
      execute: async ({ arguments: input, ...undo }, call) => {
        const { store } = uses.ports;
        if (await isGone(store, input.sessionId, undo)) return {};
        const begun = await store.findCheckpointByTool(input.sessionId, requestOf(call.forwardKey));
        if (begun === undefined) return {};
        const { checkpointId } = begun;
        const requestId = `${requestOf(call.forwardKey)}.undo`;
        if (await isLeftBehind(store, input.sessionId, { checkpointId, requestId })) return {};
        const reference = keptIn(checkpointId, input.sessionId);
        await orPerson({ store, sessionId: input.sessionId, reference }, () =>
          uses.rollback({ sessionId: input.sessionId, checkpointId, requestId }, invocationOf(call)),
        );
        return { externalRef: checkpointId };
      },
    },
  });

/** It has the project's turn to apply from here on, so that nothing else is applied until the saga has ended. */
export const prepareChangeset = (uses: Uses): Tool =>
  defineTool({
    name: 'prepare_changeset',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: "Waits for the project's turn to apply work, then takes a checkpoint of the target.",
    effect: 'read',
    timeoutSeconds: TIMEOUT_SECONDS,
    resourceKey: APPLY_KEY,
    exclusive: true,
    input: z.strictObject({ sessionId }),
    output,
    externalRef: ({ checkpointId }) => checkpointId,
    execute: (input, call) => refusing(() => checkpointOf(uses)(input, 'before-merge', call)),
  });
