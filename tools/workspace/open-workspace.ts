import * as z from 'zod';
import { checkpointId, id, template } from '../../contract/fields.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { forkIds } from '../../core/checkpoint/lifecycle/fork-session.ts';
import { rehydrateTags } from '../../core/checkpoint/session/rehydrate-tags.ts';
import { killSandboxes } from '../../core/checkpoint/workspace/kill-sandboxes.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { defineTool, type Tool, type ToolCall } from '../../kit/define-tool.ts';
import { REVIEW_BY } from '../review-date.ts';
import { KNOWN_SECONDS, TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, requestOf, type Uses } from './uses.ts';

/** A result is at most 32 KiB. */
const MOST_PROMPT = 16_000;

/**
 * A fork of a session in a sandbox of its own. Undone by discarding it, which loses nothing else (W1). While another session works in that
 * sandbox, a person decides.
 */
export const openWorkspace = ({ fork, endSession, ports }: Uses): Tool => {
  /**
   * The work of the fork is what is taken back. It gets a last checkpoint where it can be captured; where it
   * cannot, that does not keep the saga from being undone.
   */
  const discard = async (sessionId: string, call: ToolCall): Promise<void> => {
    try {
      await endSession({ sessionId, discard: true }, invocationOf(call));
    } catch (error) {
      if (!isWalkbackError(error, 'UncapturedWork')) throw error;
      await endSession({ sessionId, discard: true, dropUncaptured: true }, invocationOf(call));
    }
  };
  return defineTool({
    name: 'open_workspace',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Begins a fork of a session in a sandbox of its own. Undone by discard_workspace.',
    effect: 'compensatable',
    timeoutSeconds: TIMEOUT_SECONDS,
    idempotencyWindowSeconds: KNOWN_SECONDS,
    input: z.strictObject({
      sessionId: id.describe('the source'),
      checkpointId: checkpointId.optional().describe('default: where the source stands'),
      template: template.optional(),
      guidance: z.string().min(1).max(4096).optional().describe('what it is for'),
      lifeSeconds: z.int().min(60).max(DAY_SECONDS).optional().describe('of its sandbox; default 1 hour'),
    }),
    output: z.object({
      sessionId: z.string(),
      sandboxId: z.string(),
      checkpointId: z.string(),
      projectsRoot: z.string(),
      prompt: z.string(),
    }),
    externalRef: ({ sessionId }) => sessionId,
    execute: async ({ lifeSeconds, ...source }, call) => {
      const made = await refusing(() =>
        fork(
          {
            ...source,
            requestId: requestOf(call.forwardKey),
            ...(lifeSeconds !== undefined && { timeoutMs: lifeSeconds * 1000 }),
          },
          invocationOf(call),
        ),
      );
      const { sessionId, sandboxId, projectsRoot, prompt } = made;
      return {
        sessionId,
        sandboxId,
        checkpointId: made.checkpointId,
        projectsRoot,
        prompt: prompt.slice(0, MOST_PROMPT),
      };
    },
    compensate: {
      name: 'discard_workspace',
      timeoutSeconds: TIMEOUT_SECONDS,
      // By key: the fork may be there without an answer, or only its sandbox.
      execute: async ({ arguments: { sessionId } }, call) => {
        const { forkId, rebuildId } = forkIds(sessionId, requestOf(call.forwardKey));
        if ((await ports.store.getSession(forkId)) !== undefined) {
          await refusing(() => discard(forkId, call));
        }
        await killSandboxes(ports, rehydrateTags(sessionId, rebuildId));
        return { externalRef: forkId };
      },
    },
  });
};
