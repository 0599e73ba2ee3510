/**
 * Finds and kills duplicate sandboxes of a rehydrate. A create request that was delivered twice makes one
 * that no one knows of. Errors here never fail the rehydrate, since a leftover sandbox ends with its own
 * timeout.
 */

import type { Log } from '../../shared/surroundings.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import { rehydrateTags } from '../session/rehydrate-tags.ts';

export const createTwins = ({ sandboxes, log }: { sandboxes: Sandboxes; log: Log }) => ({
  find: async (request: { sessionId: string; requestId: string }, sandboxId: string): Promise<string[]> => {
    try {
      const found = await sandboxes.find(rehydrateTags(request.sessionId, request.requestId));
      return found.map((one) => one.sandboxId).filter((id) => id !== sandboxId);
    } catch (error) {
      log.warn('twins not looked for', { sandboxId, reason: String(error) });
      return [];
    }
  },

  kill: async (twins: readonly string[]): Promise<void> => {
    for (const sandboxId of twins) {
      await sandboxes.kill(sandboxId).catch((error: unknown) => {
        log.warn('twin not killed', { sandboxId, reason: String(error) });
      });
    }
  },
});
