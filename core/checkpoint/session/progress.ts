/** Answers how far long work or a search of a session is, for people who wait. The session itself may not be there yet. */
import type { SearchProgress } from '../../../contract/bisect.ts';
import type { ProgressAnswer } from '../../../contract/checkpoint-answers.ts';
import type { ProgressInput } from '../../../contract/checkpoint-inputs.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { SearchJournal, SearchStore } from '../ports/searches.ts';
import type { SessionStore } from '../ports/stores.ts';

/** What was told earlier is of work that ended, or was killed. */
const FRESH_MS = 30_000;

const searchOf = ({ probes, left, updatedAt }: SearchJournal): SearchProgress => ({
  tried: probes.flatMap(({ sessionId, checkpointId, result }) =>
    result === undefined ? [] : [{ sessionId, checkpointId, ...result }],
  ),
  trying: probes.filter(({ result }) => result === undefined).length,
  left,
  at: updatedAt,
});

interface Deps {
  store: Pick<SessionStore, 'getProgress'>;
  searches: Pick<SearchStore, 'getSearch'>;
  clock: Clock;
}

export const createProgress =
  ({ store, searches, clock }: Deps) =>
  async ({ sessionId, requestId }: ProgressInput): Promise<ProgressAnswer> => {
    const [told, journal] = await Promise.all([
      store.getProgress(sessionId),
      requestId === undefined ? undefined : searches.getSearch(sessionId, requestId),
    ]);
    const search =
      requestId === undefined ? {} : { search: journal === undefined ? null : searchOf(journal) };
    if (told === undefined || clock.now().getTime() - Date.parse(told.at) > FRESH_MS)
      return { progress: null, ...search };
    const { doing, done, of, startedAt, at } = told;
    return { progress: { doing, done, ...(of !== undefined && { of }), startedAt, at }, ...search };
  };
