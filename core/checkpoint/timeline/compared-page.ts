/**
 * Makes the repositories of one page of checkpoints say how they differ from the checkpoint before, whichever
 * release stored them.
 */
import { mapAtOnce } from '../../shared/at-once.ts';
import { needsParent, statesOf } from '../capture/repository-change.ts';
import type { Checkpoint } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';

/** Each checkpoint has at most 400 KB. */
const READS_AT_ONCE = 4;

type States = Pick<Checkpoint, 'repositories'>;

/**
 * For an old session, one more checkpoint is read beside the page: the parent of its oldest. With rollbacks,
 * it is one for each branch.
 */
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
