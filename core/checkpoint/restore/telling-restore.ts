/** Restores in a sandbox, and keeps how far the restore is, for people who wait for it. */
import type { Clock, Log } from '../../shared/surroundings.ts';
import { createTelling } from '../capture/tell-progress.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { RestoreReport, RestoreRequest } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';

interface Deps {
  store: Pick<SessionStore, 'putProgress'>;
  repositories: Pick<Repositories, 'restore'>;
  clock: Clock;
  log: Log;
}

export const createTellingRestore = (deps: Deps) => {
  const telling = createTelling(deps);
  return (sandbox: ExecutionAdapter, request: RestoreRequest): Promise<RestoreReport> =>
    telling(request.sessionId, (hooks) => deps.repositories.restore(sandbox, request, hooks));
};
