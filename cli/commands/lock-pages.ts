/** Every page of the locks, as one list. */
import { allLocks } from '../../client/all-once.ts';
import type { LocksAnswer } from '../../contract/saga-answers.ts';
import type { Run } from '../app.ts';

/** Of one saga, or of all that are open. */
export const readLocks = (run: Run, sagaId?: string): Promise<LocksAnswer['locks']> =>
  allLocks((cursor) =>
    run.invoke('walkback-list-locks', {
      ...(sagaId === undefined ? {} : { sagaId }),
      ...(cursor === undefined ? {} : { cursor }),
    }),
  );
