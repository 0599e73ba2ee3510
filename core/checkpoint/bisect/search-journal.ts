/**
 * The writes of one search. A search is resumable, because each verdict is stored as soon as it is there, and
 * each copy is noted before it is made. Probes end side by side, so the writes of one call go one after the
 * other. Owns the attempt number: a call that takes a search over raises it, and an earlier one cannot write any more.
 */
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { Probe, SearchJournal, SearchStore } from '../ports/searches.ts';

export const superseded = (requestId: string): WalkbackError =>
  new WalkbackError(
    'RequestConflict',
    `Another call works on search "${requestId}" now. Call again with the same requestId for its answer.`,
    { retryable: true, details: { requestId } },
  );

/** Without the outputs of all checkpoints but these, so that the journal stays small. */
const withoutOutputs = (probes: readonly Probe[], kept: ReadonlySet<string>): Probe[] =>
  probes.map((probe) => {
    if (probe.result === undefined || kept.has(probe.state)) return probe;
    const { output: _output, isCut: _isCut, ...result } = probe.result;
    return { ...probe, result };
  });

export const createSearchJournal = (
  { searches, clock }: { searches: SearchStore; clock: Clock },
  begun: SearchJournal,
) => {
  let journal = begun;
  let last: Promise<void> = Promise.resolve();

  const write = async (change: (before: SearchJournal) => Partial<SearchJournal>): Promise<void> => {
    const next = { ...journal, ...change(journal), updatedAt: clock.now().toISOString() };
    if (!(await searches.moveSearch(next, journal.attempt))) throw superseded(journal.requestId);
    journal = next;
  };

  const inTurn = (change: (before: SearchJournal) => Partial<SearchJournal>): Promise<void> => {
    const mine = last.then(() => write(change));
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    get probes(): readonly Probe[] {
      return journal.probes;
    },
    /** Before the copies are made. `kept`: states whose outputs the answer may need. */
    begin: (probes: readonly Probe[], left: number, kept: ReadonlySet<string>): Promise<void> =>
      inTurn((before) => ({ left, probes: [...withoutOutputs(before.probes, kept), ...probes] })),
    end: (copy: string, result: NonNullable<Probe['result']>): Promise<void> =>
      inTurn(({ probes }) => ({
        probes: probes.map((probe) => (probe.copy === copy ? { ...probe, result } : probe)),
      })),
    /** They gave no verdict, and their copies are gone. */
    drop: (copies: ReadonlySet<string>): Promise<void> =>
      inTurn(({ probes }) => ({ probes: probes.filter(({ copy }) => !copies.has(copy)) })),
  };
};

export type OpenJournal = ReturnType<typeof createSearchJournal>;
