/** Verifies a saga and those below it, with the same checks as the functions and the command. */
import { fromRow } from '../core/saga/ledger/ledger-row.ts';
import { childIds, verifyFamily } from '../core/saga/ledger/verify-family.ts';
import { type StoredSaga, verifySaga } from '../core/saga/ledger/verify-saga.ts';
import type { SagaHead } from '../core/saga/model/head.ts';
import type { LedgerEntry } from '../core/saga/model/ledger-entry.ts';
import { errors, isWalkbackError } from './errors.ts';
import type { Invoke } from './invoke.ts';
import type { LedgerFinding, VerifiedLedger } from './ledger.ts';

const PAGE = 500;

const readStored = async (invoke: Invoke, sagaId: string): Promise<StoredSaga> => {
  const entries: LedgerEntry[] = [];
  const findings: LedgerFinding[] = [];
  let head: SagaHead | null = null;
  let cursor: string | undefined;
  do {
    const answer = await invoke('query-ledger', { sagaId, evidence: true, limit: PAGE, cursor });
    if (answer.evidence === undefined) {
      throw new errors.ConfigurationError(
        'The functions are of an older release, which this one cannot verify.',
      );
    }
    for (const row of answer.entries ?? []) entries.push(fromRow(row));
    findings.push(...answer.evidence.findings);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions' own, of this release; verifying it is what comes
    head = (answer.evidence.head ?? null) as SagaHead | null;
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { sagaId, head, entries, findings };
};

export const verifyLedger = async (invoke: Invoke, sagaId: string): Promise<VerifiedLedger> => {
  const ledgers = new Map<string, readonly LedgerEntry[]>();
  const findings: LedgerFinding[] = [];
  const open = [sagaId];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (ledgers.has(next)) continue;
    try {
      const stored = await readStored(invoke, next);
      ledgers.set(next, stored.entries);
      findings.push(...verifySaga(stored));
      open.push(...childIds(stored.entries));
    } catch (error) {
      // A child that was named and is not there yet is none.
      if (next === sagaId || !isWalkbackError(error, 'SagaNotFound')) throw error;
    }
  }
  findings.push(...verifyFamily(ledgers));
  const entries = [...ledgers.values()].reduce((sum, one) => sum + one.length, 0);
  return { ok: findings.length === 0, sagaIds: [...ledgers.keys()], entries, findings };
};
