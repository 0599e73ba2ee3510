/** Verifies a saga and those below it, with the same checks as the functions and the command. */

import type { AnswerOf } from '../contract/functions.ts';
import type { RequestOf } from '../contract/invoke.ts';
import { readFamily } from '../core/saga/ledger/read-family.ts';
import { readStored } from '../core/saga/ledger/read-stored.ts';
import { verifyFamily } from '../core/saga/ledger/verify-family.ts';
import { type StoredSaga, verifySaga } from '../core/saga/ledger/verify-saga.ts';
import { errors } from './errors.ts';
import type { LedgerFinding, VerifiedLedger } from './ledger.ts';

const AT_ONCE = 8;

const otherRelease = () =>
  new errors.ConfigurationError('The functions are of another release, which this one cannot verify.');

type Query = (request: RequestOf<'query-ledger'>) => Promise<AnswerOf<'query-ledger'>>;

/** `isNotFound`: whether an error of a query means that the saga does not exist. */
export const verifyLedger = async (
  query: Query,
  sagaId: string,
  isNotFound: (error: unknown) => boolean,
): Promise<VerifiedLedger> => {
  const read = async (one: string): Promise<StoredSaga | undefined> => {
    try {
      return await readStored(one, query, otherRelease);
    } catch (error) {
      // A child that was named and does not exist yet is skipped.
      if (one === sagaId || !isNotFound(error)) throw error;
      return undefined;
    }
  };
  const family = await readFamily(sagaId, read, AT_ONCE);
  const ledgers = new Map([...family].map(([one, { entries }]) => [one, entries]));
  const findings: LedgerFinding[] = [...family.values()].flatMap(verifySaga);
  findings.push(...verifyFamily(ledgers));
  const entries = [...ledgers.values()].reduce((sum, one) => sum + one.length, 0);
  return { ok: findings.length === 0, sagaIds: [...ledgers.keys()], entries, findings };
};
