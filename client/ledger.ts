/** Reads and checks the ledger of sagas. */

import type { LedgerRow } from '../contract/saga-answers.ts';
import { isWalkbackError } from './errors.ts';
import type { Invoke } from './invoke.ts';
import type { Answer, Request } from './requests.ts';

/** What is not as it was written. */
export interface LedgerFinding {
  sagaId: string;
  where: string;
  message: string;
}

export interface VerifiedLedger {
  /** Nothing was found. */
  ok: boolean;
  /** The saga and those below it. */
  sagaIds: string[];
  entries: number;
  findings: LedgerFinding[];
}

export interface Ledger {
  /** Entries by saga, day, status or reference; one page. */
  query(request: Request<'query-ledger'>): Promise<Answer<'query-ledger'>>;
  /** All entries of a saga, oldest first. */
  entries(sagaId: string): Promise<LedgerRow[]>;
  /**
   * Checks that what is stored of a saga and of those below it is what was written: every hash, the state, and how they name
   * each other. The signed digests of days are checked by `walkback ledger verify`.
   */
  verify(sagaId: string): Promise<VerifiedLedger>;
}

export const createLedger = (invoke: Invoke): Ledger => ({
  query: (request) => invoke('query-ledger', request),
  entries: async (sagaId) => {
    const rows: LedgerRow[] = [];
    let cursor: string | undefined;
    do {
      const answer = await invoke('query-ledger', { sagaId, limit: 500, cursor });
      rows.push(...(answer.entries ?? []));
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return rows;
  },
  verify: async (sagaId) => {
    // Loaded only when it is needed: it brings the reducer.
    const { verifyLedger } = await import('./verify-ledger.ts');
    return verifyLedger(
      (request) => invoke('query-ledger', request),
      sagaId,
      (error) => isWalkbackError(error, 'SagaNotFound'),
    );
  },
});
