/** Trees of sagas that go on while their ledgers are read to verify them. */
import { expect, test } from 'vitest';
import { verifyLedger } from '../../client/verify-ledger.ts';
import { toRow } from '../../core/saga/ledger/ledger-row.ts';
import { fine, put, ROOT, runTree, type TreeSaga } from '../support/tree-saga.ts';

const plan = {
  steps: [
    put('before'),
    { id: 'all', branches: [fine('a', 'ka'), fine('b', 'kb')] },
    { id: 'deep', saga: { plan: { steps: [{ id: 'deeper', saga: { plan: { steps: [put('two')] } } }] } } },
  ],
};

/** What is stored of a saga, as the function answers it. */
const stored = (saga: TreeSaga, sagaId: string) =>
  structuredClone({
    entries: (saga.memory.ledger.get(sagaId) ?? []).map(toRow),
    evidence: { head: saga.memory.heads.get(sagaId) ?? null, findings: [] },
  });

const isNotFound = () => false;

test.each([1, 2, 3, 4, 5])('it is undone after read %i: all is as it was written', async (at) => {
  const { saga } = await runTree({ plan });
  let reads = 0;
  const query = async ({ sagaId = '' }) => {
    const answer = stored(saga, sagaId);
    reads += 1;
    if (reads === at) {
      await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' });
      await saga.machine.settle();
    }
    return answer;
  };
  const seen = await verifyLedger(query, ROOT, isNotFound);
  expect(seen.findings).toEqual([]);
  expect(seen.sagaIds).toEqual([ROOT, 'root.all.a', 'root.all.b', 'root.deep', 'root.deep.deeper']);
});

test('a ledger that lost its end, with its head, is seen however often it is read', async () => {
  const { saga } = await runTree({ plan });
  const before = stored(saga, ROOT);
  await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' });
  await saga.machine.settle();
  let reads = 0;
  const query = async ({ sagaId = '' }) => {
    reads += 1;
    return sagaId === ROOT ? before : stored(saga, sagaId);
  };
  const { ok, findings } = await verifyLedger(query, ROOT, isNotFound);
  expect(ok).toBe(false);
  expect(findings[0]?.message).toMatch(/^entry \d+ of saga root is not the one that it names$/);
  expect(reads).toBeLessThan(10);
});
