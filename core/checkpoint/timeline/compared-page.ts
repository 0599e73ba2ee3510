/** Checkpoints of one page whose repositories say how they differ from the checkpoint before, whichever release stored them. */
import { mapAtOnce } from '../../shared/at-once.ts';
import { needsParent, statesOf } from '../capture/repository-change.ts';
import type { Checkpoint } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';

/** Each has 400 KB at the most. */
const READS_AT_ONCE = 4;

type States = Pick<Checkpoint, 'repositories'>;

/** Of an old session one is read beside the page: the parent of its oldest. Where it was rolled back, one for each branch. */
export const comparedPage = async (
  store: Pick<SessionStore, 'getCheckpoint'>,
  page: readonly Checkpoint[],
): Promise<Checkpoint[]> => {
  const known = new Map<number | null, States | undefined>(page.map((one) => [one.seq, one]));
  const wanted = new Map(
    page.flatMap((one) =>
      needsParent(one) && one.parentSeq !== null && !known.has(one.parentSeq)
        ? [[one.parentSeq, one.sessionId] as const]
        : [],
    ),
  );
  await mapAtOnce([...wanted], READS_AT_ONCE, async ([seq, sessionId]) => {
    known.set(seq, await store.getCheckpoint(sessionId, seq));
  });
  return page.map((one) => ({ ...one, repositories: statesOf(one, known.get(one.parentSeq)) }));
};
