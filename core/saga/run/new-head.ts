/** Makes the first entries of a saga, and the head that goes with them. */

import { fold } from '../decide/fold.ts';
import { chain, GENESIS_HASH } from '../entries/hash-chain.ts';
import type { SagaHead } from '../model/head.ts';
import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';

type Beginning = Omit<
  SagaHead,
  'seq' | 'tip' | 'version' | 'state' | 'historyEvents' | 'createdAt' | 'updatedAt' | 'statusSince'
>;

/** `facts`: the first one says that the saga started. */
export const newHead = (
  beginning: Beginning,
  facts: readonly Fact[],
  at: string,
): { head: SagaHead; entries: LedgerEntry[] } => {
  const { sagaId, requestedBy } = beginning;
  const { entries, tip } = chain(sagaId, { seq: 0, tip: GENESIS_HASH }, facts, { at, actor: requestedBy });
  const head: SagaHead = {
    ...beginning,
    ...tip,
    version: 1,
    state: fold(entries),
    historyEvents: 0,
    createdAt: at,
    updatedAt: at,
    statusSince: at,
  };
  return { head, entries };
};
