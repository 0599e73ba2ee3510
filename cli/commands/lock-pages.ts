/** Every page of the locks, as one list. */
import type { LocksAnswer } from '../../contract/saga-answers.ts';
import type { Run } from '../app.ts';

/** Of one saga, or of all that are open. */
export const readLocks = async (run: Run, sagaId?: string): Promise<LocksAnswer['locks']> => {
  const found: LocksAnswer['locks'] = [];
  let cursor: string | undefined;
  do {
    const page: LocksAnswer = await run.invoke('walkback-list-locks', {
      ...(sagaId === undefined ? {} : { sagaId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.locks);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
};
