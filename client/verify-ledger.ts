/** Verifies a saga and those below it, with the same checks as the functions and the command. */

import type { AnswerOf } from '../contract/functions.ts';
import type { RequestOf } from '../contract/invoke.ts';
import { readStored } from '../core/saga/ledger/read-stored.ts';
import { childIds, verifyFamily } from '../core/saga/ledger/verify-family.ts';
import { verifySaga } from '../core/saga/ledger/verify-saga.ts';
import type { LedgerEntry } from '../core/saga/model/ledger-entry.ts';
import { errors } from './errors.ts';
import type { LedgerFinding, VerifiedLedger } from './ledger.ts';

const tooOld = () =>
  new errors.ConfigurationError('The functions are of an older release, which this one cannot verify.');

type Query = (request: RequestOf<'query-ledger'>) => Promise<AnswerOf<'query-ledger'>>;

/** `isNotFound`: of an error that a query throws, whether there is no such saga. */
export const verifyLedger = async (
  query: Query,
  sagaId: string,
  isNotFound: (error: unknown) => boolean,
): Promise<VerifiedLedger> => {
  const ledgers = new Map<string, readonly LedgerEntry[]>();
  const findings: LedgerFinding[] = [];
  const open = [sagaId];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (ledgers.has(next)) continue;
    try {
      const stored = await readStored(next, query, tooOld);
      ledgers.set(next, stored.entries);
      findings.push(...verifySaga(stored));
      open.push(...childIds(stored.entries));
    } catch (error) {
      // A child that was named and is not there yet is none.
      if (next === sagaId || !isNotFound(error)) throw error;
    }
  }
  findings.push(...verifyFamily(ledgers));
  const entries = [...ledgers.values()].reduce((sum, one) => sum + one.length, 0);
  return { ok: findings.length === 0, sagaIds: [...ledgers.keys()], entries, findings };
};
