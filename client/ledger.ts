/** Reads and checks the ledger of sagas. */

import type { LedgerRow } from '../contract/ledger-query.ts';
import { isWalkbackError } from './errors.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import type { Answer, Request } from './requests.ts';

/** Something that is not as it was written. */
export interface LedgerFinding {
  sagaId: string;
  where: string;
  message: string;
}

export interface VerifiedLedger {
  /** True when nothing was found. */
  ok: boolean;
  /** Ids of the saga and of those below it. */
  sagaIds: string[];
  entries: number;
  findings: LedgerFinding[];
}

export interface Ledger {
  /** Entries by saga, day, status or reference. One page. */
  query(request: Request<'query-ledger'>, call?: CallOptions): Promise<Answer<'query-ledger'>>;
  /** All entries of a saga, oldest first. */
  entries(sagaId: string, call?: CallOptions): Promise<LedgerRow[]>;
  /**
   * Checks that what is stored of a saga and of those below it is what was written: every hash, the state,
   * and how they name each other. The signed digests of days are checked by `walkback ledger verify`.
   */
  verify(sagaId: string, call?: CallOptions): Promise<VerifiedLedger>;
}

export const createLedger = (invoke: Invoke): Ledger => ({
  query: (request, call) => invoke('query-ledger', request, call),
  entries: async (sagaId, call) => {
    const rows: LedgerRow[] = [];
    let cursor: string | undefined;
    do {
      const answer = await invoke('query-ledger', { sagaId, limit: 500, cursor }, call);
      rows.push(...(answer.entries ?? []));
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return rows;
  },
  verify: async (sagaId, call) => {
    // Loaded only when needed, because it brings the reducer.
    const { verifyLedger } = await import('./verify-ledger.ts');
    return verifyLedger(
      (request) => invoke('query-ledger', request, call),
      sagaId,
      (error) => isWalkbackError(error, 'SagaNotFound'),
    );
  },
});
