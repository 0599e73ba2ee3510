/** Random edits of what is stored of sagas that ended, against the real command and the function that tells the model. */
import { expect } from 'vitest';
import { FunctionFailure } from './cloud.ts';
import { applyEdit, type Edit, editsOf, isCovered } from './ledger-edits.ts';
import type { Recorded } from './recording-app.ts';
import { startSagaCloud } from './saga-cloud.ts';
import { commandOn, openTables, type StoredItem } from './tampering.ts';

export interface EditTally {
  edits: number;
  named: number;
  uncovered: number;
  /** The function told the model nothing. */
  refused: number;
}

const SAGAS = ['done', 'failed'];

/** Applies each chosen edit by itself, and puts it back. */
export const tamper = async (
  seed: number,
  choose: (edits: readonly Edit[]) => readonly Edit[],
): Promise<EditTally> => {
  let state = seed;
  const random = () => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return state;
  };
  const sagas = await startSagaCloud();
  const tables = openTables(sagas.cloud);
  const command = commandOn(sagas.cloud);
  const tally: EditTally = { edits: 0, named: 0, uncovered: 0, refused: 0 };
  try {
    await sagas.start('done');
    const told = new Map<string, unknown>([['done', await sagas.observe('done')]]);
    sagas.faults.refuseMail = true;
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    await sagas.start('failed', 'refund-approved');
    await sagas.observe('failed');
    const answer = { sagaId: 'failed', stepId: 'refund', decision: 'approve', by: 'ada' };
    await sagas.cloud.invoke('answer', answer);
    await sagas.observe('failed');
    for (const sagaId of SAGAS) await sagas.executionsEnded(sagaId);
    await sagas.cloud.settled();
    told.set('failed', await sagas.observe('failed'));
    const stored = new Map<string, StoredItem[]>();
    for (const sagaId of SAGAS) stored.set(sagaId, await tables.of(sagaId));

    const check = async (sagaId: string, edit: Edit) => {
      const label = `seed ${seed}, saga ${sagaId}: ${edit.what}`;
      if (!(await applyEdit(tables, edit))) return;
      const seen: Recorded = await command.run(['ledger', 'verify', sagaId]);
      // An edited time is no reason to look through centuries.
      expect(seen.calls.length, `${label}: ${seen.calls.length} calls`).toBeLessThan(20);
      const isNamed = seen.failure?.name === 'LedgerBroken';
      tally.edits += 1;
      if (isNamed) tally.named += 1;
      else tally.uncovered += 1;
      if (isCovered(edit)) expect(isNamed, `${label}: ${seen.failure?.message ?? seen.stdout}`).toBe(true);
      // The answer is the same as before, or there is none.
      const observed = await sagas.cloud.invoke('describe-saga', { sagaId }).catch((error: unknown) => {
        if (!(error instanceof FunctionFailure)) throw error;
        expect(error.errorType, label).toMatch(/^(?:LedgerBroken|SagaNotFound|ConfigurationError)$/);
        tally.refused += 1;
      });
      if (observed !== undefined) expect(observed, label).toEqual(told.get(sagaId));
      await tables.put(edit.before);
    };
    for (const sagaId of SAGAS) {
      for (const edit of choose(editsOf(stored.get(sagaId) ?? [], random))) await check(sagaId, edit);
      await tables.restore(sagaId, stored.get(sagaId) ?? []);
      const { failure } = await command.run(['ledger', 'verify', sagaId]);
      expect(failure, `seed ${seed}: put back`).toBeUndefined();
    }
    return tally;
  } finally {
    command.close();
    tables.close();
    await sagas.close();
  }
};
