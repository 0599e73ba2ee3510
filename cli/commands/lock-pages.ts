/** Every page of the locks, as one list. */
import type { LocksAnswer } from '../../contract/saga-answers.ts';
import type { Run } from '../app.ts';

/** Of one saga, or of all that are open. */
export const readLocks = async (run: Run, sagaId?: string): Promise<LocksAnswer['locks']> => {
  // Those of a saga that changes its status meanwhile are told again at the end.
  const found = new Map<string, LocksAnswer['locks'][number]>();
  let cursor: string | undefined;
  do {
    const page: LocksAnswer = await run.invoke('walkback-list-locks', {
      ...(sagaId === undefined ? {} : { sagaId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const one of page.locks) found.set(JSON.stringify([one.sagaId, one.resourceKey]), one);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return [...found.values()];
};
