/**
 * Reads a whole ledger without the parts that only calls of tools need. With 500 steps and the largest
 * results, those parts are 32 MB.
 */
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';
import { differingHeadFields } from './check-head.ts';
import { createChainCheck, describeBreak } from './hash-chain.ts';

const MAX_PAGE = 1000;

/** Results up to this size are kept, because the model is shown them. */
export const MAX_TOLD_RESULT_BYTES = 2 * 1024;

/** An entry without the parts that only calls of tools need. `leftOut`: its result is large and was left out. */
export type ToldEntry = LedgerEntry & { leftOut?: true };

const slim = (entry: LedgerEntry): ToldEntry => {
  if (entry.direction === 'forward' && entry.status === 'started') {
    const { arguments: _, ...rest } = entry;
    return rest;
  }
  if (!('result' in entry)) return entry;
  const isSmall = jsonBytes(entry.result) <= MAX_TOLD_RESULT_BYTES;
  return isSmall ? entry : { ...entry, result: null, leftOut: true };
};

type Reads = Pick<SagaStore, 'pageEntries'>;

/** Passes every entry below `end` to `look` as it is stored, and keeps it without arguments and result. */
const readAll = async (
  store: Reads,
  sagaId: string,
  end: number,
  look: (entry: LedgerEntry) => void,
): Promise<ToldEntry[]> => {
  const entries: ToldEntry[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && from < end) {
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, from, MAX_PAGE);
    for (const entry of page.items.filter(({ seq }) => seq < end)) {
      look(entry);
      entries.push(slim(entry));
    }
    from = page.next;
  }
  return entries;
};

/**
 * Oldest first, up to `end`. Arguments and large results are left out, so the hashes of these entries
 * cannot be checked.
 */
export const readLedger = (
  store: Reads,
  sagaId: string,
  end = Number.POSITIVE_INFINITY,
): Promise<ToldEntry[]> => readAll(store, sagaId, end, () => undefined);

const broken = (sagaId: string, what: string): WalkbackError =>
  new WalkbackError(
    'LedgerBroken',
    `Saga ${sagaId} is not what was written: ${what}. What it did is not known from here: do not act on it. ` +
      `An operator runs \`walkback ledger verify ${sagaId}\` and looks at the providers.`,
    { details: { sagaId } },
  );

/**
 * The same up to the head, and checked against the head (S12): an answer about a saga agrees with its ledger,
 * or there is no answer. Throws `LedgerBroken` when the chain does not hold, or when the head disagrees with
 * the entries.
 */
export const readTrueLedger = async (store: Reads, head: SagaHead): Promise<ToldEntry[]> => {
  const { sagaId } = head;
  const check = createChainCheck();
  const entries = await readAll(store, sagaId, head.seq, check.add);
  const gap = check.end(head);
  if (gap !== undefined) throw broken(sagaId, `entry ${gap.seq}: ${describeBreak(gap)}`);
  const differing = differingHeadFields(head, entries);
  if (differing.length > 0)
    throw broken(sagaId, `the head differs from the ledger in ${differing.join(', ')}`);
  return entries;
};
