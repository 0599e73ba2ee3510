/**
 * Refuses to discard a fork while another active session works in its sandbox, because that session would
 * lose its work.
 */
import { WalkbackError } from '../../shared/errors.ts';
import type { Session } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { rehydrateTags } from '../session/rehydrate-tags.ts';
import { sessionsBySandbox, usersOf } from './sandbox-users.ts';

export const createExpectUnused =
  (deps: { store: SessionStore; sandboxes: () => Promise<Pick<Sandboxes, 'find'>> }) =>
  async ({ sessionId, sandboxId, forkedFrom }: Session): Promise<void> => {
    if (forkedFrom === undefined) return;
    const found = await (await deps.sandboxes()).find(rehydrateTags(forkedFrom.sessionId, sessionId));
    const own = found.find((one) => one.sandboxId === sandboxId);
    // The sandbox is gone already, so there is nothing left to lose.
    if (own === undefined) return;
    const other = usersOf(own, await sessionsBySandbox(deps.store)).find((name) => name !== sessionId);
    if (other === undefined) return;
    throw new WalkbackError(
      'SessionConflict',
      `discard: session "${other}" works in the sandbox of "${sessionId}". Nothing was done; end that session first, or end this one without discard.`,
      { details: { sessionId: other, sandboxId } },
    );
  };
