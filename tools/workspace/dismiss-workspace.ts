import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { defineTool, type Tool } from '../../kit/define-tool.ts';
import { REVIEW_BY } from '../review-date.ts';
import { KNOWN_SECONDS, TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, type Uses } from './uses.ts';

/**
 * Ends a fork whose work is done. Its checkpoints are kept for their time, with a last one of work that none held; a
 * sandbox that was killed does not come back. So it can be taken back in part: what a checkpoint holds can be rehydrated,
 * and that is said.
 */
export const dismissWorkspace = ({ endSession, ports }: Uses): Tool =>
  defineTool({
    name: 'dismiss_workspace',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Ends a workspace and kills its sandbox. Its checkpoints stay for their time.',
    effect: 'partial',
    timeoutSeconds: TIMEOUT_SECONDS,
    idempotencyWindowSeconds: KNOWN_SECONDS,
    input: z.strictObject({ sessionId: id.describe('the fork') }),
    output: z.object({ sessionId: z.string() }),
    externalRef: ({ sessionId }) => sessionId,
    execute: async ({ sessionId }, call) => {
      await call.fence();
      await refusing(() => endSession({ sessionId, discard: true }, invocationOf(call)));
      return { sessionId };
    },
    compensate: {
      name: 'note_dismissed_workspace',
      execute: async ({ arguments: { sessionId } }) => {
        const session = await ports.store.getSession(sessionId);
        if (session === undefined || session.status !== 'ended') return {};
        const until = new Date(session.expiresAt * 1000).toISOString();
        return {
          externalRef: sessionId,
          residue: `Workspace ${sessionId} stays ended. What its last checkpoint holds can be rehydrated until ${until}.`,
        };
      },
    },
  });
