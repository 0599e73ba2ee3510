/** Reads all pages of the locks as one list. */
import { allLocks } from '../../client/all-once.ts';
import type { LocksAnswer } from '../../contract/saga-lists.ts';
import type { Run } from '../app.ts';

/** The locks of one saga, or of all open sagas. */
export const readLocks = (run: Run, sagaId?: string): Promise<LocksAnswer['locks']> =>
  allLocks((cursor) =>
    run.invoke('walkback-list-locks', {
      ...(sagaId === undefined ? {} : { sagaId }),
      ...(cursor === undefined ? {} : { cursor }),
    }),
  );
