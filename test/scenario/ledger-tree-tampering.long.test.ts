/** Somebody with rights in the account edits the ledgers of a tree on real tables, also with chains that hold: verify names each. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test, vi } from 'vitest';
import { entryItem, headItem } from '../../adapters/aws/sagas/saga-items.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { Fact, LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { refundDefinitions } from '../../examples/refund/catalog.ts';
import { addOrder } from '../support/saga-cloud.ts';
import { type Attributes, tamperedSagas } from '../support/tampering.ts';

const ROOT = 'tree';
const CHILD = `${ROOT}.outer`;
const LEAF = `${CHILD}.inner`;
const TREE = [ROOT, CHILD, LEAF];

const {
  it,
  itemsOf,
  change,
  verify: verifyOf,
} = tamperedSagas(TREE, async (sagas) => {
  addOrder(sagas.server, 'order-1');
  const steps = refundDefinitions[0]?.plan.steps.slice(0, 3) ?? [];
  const inner = { id: 'inner', saga: { plan: { steps } }, input: '{% input %}' };
  const outer = { id: 'outer', saga: { plan: { steps: [inner] } }, input: { orderId: 'order-1' } };
  const started = { sagaId: ROOT, plan: { steps: [outer] }, input: {}, requestedBy: 'agent-7' };
  await sagas.cloud.invoke('start-saga', started);
  expect(await sagas.observe(ROOT)).toMatchObject({ status: 'COMPLETED' });
  // Sealed a moment after the root has ended.
  for (const sagaId of [CHILD, LEAF]) {
    await vi.waitFor(
      async () => expect((await sagas.rows(sagaId)).rows.at(-1)).toMatchObject({ status: 'sealed' }),
      { timeout: 120_000, interval: 200 },
    );
  }
  await sagas.cloud.settled();
});

/** Of the whole tree. */
const verify = () => verifyOf(ROOT);

const entriesOf = async (sagaId: string): Promise<LedgerEntry[]> =>
  (await it.sagas.rows(sagaId)).rows.map(fromRow);

const without = <T extends object>(value: T, ...names: string[]): T =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T;

/** What somebody writes who knows how: other facts under a chain that holds, and the head that belongs to them. */
const rewrite = async (sagaId: string, edit: (fact: Fact) => Fact): Promise<void> => {
  const written = await entriesOf(sagaId);
  let from = { seq: 0, tip: GENESIS_HASH };
  const entries: LedgerEntry[] = [];
  for (const entry of written) {
    const fact: Fact = without(entry, 'sagaId', 'seq', 'at', 'actor', 'prevHash', 'hash');
    const linked = chain(sagaId, from, [edit(fact)], { at: entry.at, actor: entry.actor });
    entries.push(...linked.entries);
    from = linked.tip;
  }
  const { evidence } = (await it.sagas.cloud.invoke('query-ledger', {
    sagaId,
    evidence: true,
    limit: 1000,
  })) as {
    evidence?: { head?: SagaHead };
  };
  const [first] = entries;
  if (evidence?.head === undefined || first?.direction !== 'saga' || first.status !== 'started') {
    throw new Error('no head');
  }
  const { parent } = first;
  const head: SagaHead = {
    ...without(evidence.head, 'parent'),
    ...(parent === undefined ? {} : { parent }),
    ...from,
    updatedAt: entries.at(-1)?.at ?? '',
    state: fold(entries),
  };
  for (const one of itemsOf(sagaId)) if (one.table === it.tables.ledger) await it.tables.remove(one);
  const marshalled = (item: object) => marshall(item, { removeUndefinedValues: true });
  for (const entry of entries)
    await it.tables.put({ table: it.tables.ledger, item: marshalled(entryItem(entry)) });
  await it.tables.put({ table: it.tables.sagas, item: marshalled(headItem(head)) });
};

interface Case {
  what: string;
  edit: () => Promise<void>;
  /** What the command says of the tree. */
  named: RegExp[];
}

const headEdit = (sagaId: string, what: string, edit: (item: Attributes) => void, named: string): Case => ({
  what: `${what} in the head of ${sagaId}`,
  edit: () => change(sagaId, 'HEAD', edit),
  named: [new RegExp(`Saga ${sagaId}, ${named}`)],
});

/** A chain that holds, and a head that belongs to it. */
const factEdit = (sagaId: string, what: string, edit: (fact: Fact) => Fact, ...named: string[]): Case => ({
  what: `${what}, under a chain that holds`,
  edit: () => rewrite(sagaId, edit),
  named: named.map((text) => new RegExp(text)),
});

const ofStart =
  (edit: (fact: Fact & { status: 'started' }) => Fact) =>
  (fact: Fact): Fact =>
    fact.direction === 'saga' && fact.status === 'started' ? edit(fact) : fact;

const parentTells = `Saga ${CHILD}, entry \\d+: entry \\d+ of saga ${LEAF} is not the one that it names`;

const CASES: Case[] = [
  headEdit(CHILD, 'tip', (item) => (item['tip'] = { S: 'f'.repeat(64) }), 'entry \\d+'),
  headEdit(LEAF, 'tip', (item) => (item['tip'] = { S: 'f'.repeat(64) }), 'entry \\d+'),
  headEdit(CHILD, 'requestedBy', (item) => (item['requestedBy'] = { S: 'mallory' }), 'head: requestedBy'),
  headEdit(
    LEAF,
    'statusSince',
    (item) => (item['statusSince'] = { S: '2031-01-01T00:00:00.000Z' }),
    'head: statusSince',
  ),
  headEdit(CHILD, 'no parent', (item) => delete item['parent'], 'head: parent'),
  {
    what: 'the parent cut from the first entry of a child',
    edit: () =>
      change(CHILD, '00000000', (item) => {
        const detail = JSON.parse(item['detail']?.S ?? '{}') as object;
        expect(detail).toHaveProperty('parent.hash');
        item['detail'] = { S: JSON.stringify(without(detail, 'parent')) };
      }),
    named: [new RegExp(`Saga ${CHILD}, entry 0: the entry was altered`)],
  },
  factEdit(
    ROOT,
    'the tip of a child as its parent tells it',
    (fact) =>
      fact.direction === 'child' && fact.status === 'ended'
        ? { ...fact, child: { ...fact.child, tip: '0'.repeat(64) } }
        : fact,
    `Saga ${ROOT}, entry \\d+: entry \\d+ of saga ${CHILD} is not the one that it names`,
  ),
  factEdit(
    LEAF,
    'the parent cut from a child',
    ofStart((fact) => without(fact, 'parent')),
    `Saga ${LEAF}, entry 0: parent: not what entry`,
    parentTells,
  ),
  factEdit(
    LEAF,
    'another input of a child',
    ofStart((fact) => ({ ...fact, inputHash: '1'.repeat(64) }) as Fact),
    `Saga ${LEAF}, entry 0: inputHash: not what entry`,
    parentTells,
  ),
  factEdit(
    LEAF,
    'a child that is written again as a whole, with another result',
    (fact) =>
      fact.direction === 'forward' && fact.status === 'committed' ? { ...fact, result: { amount: 1 } } : fact,
    parentTells,
  ),
  factEdit(
    LEAF,
    'the root of a seal',
    (fact) =>
      fact.direction === 'saga' && fact.status === 'sealed'
        ? { ...fact, root: { ...fact.root, hash: '2'.repeat(64) } }
        : fact,
    `Saga ${LEAF}, entry \\d+: entry \\d+ of saga ${ROOT} is not the one that it names`,
  ),
  {
    what: 'the ledger of a child is gone',
    edit: async () => {
      for (const one of itemsOf(LEAF)) if (one.table === it.tables.ledger) await it.tables.remove(one);
    },
    named: [new RegExp(`Saga ${LEAF}, entry 0: an entry is missing`)],
  },
  {
    what: 'everything of a child is gone',
    edit: async () => {
      for (const one of itemsOf(LEAF)) await it.tables.remove(one);
    },
    named: [new RegExp(`Saga ${CHILD}, entry \\d+: saga ${LEAF}, of which it names the end, is gone`)],
  },
];

test('a tree that nobody touched verifies, also when a part of it is written again as it was', async () => {
  expect(await verify()).toContain('those of 2 sagas below it');
  await rewrite(CHILD, (fact) => fact);
  expect(await verify()).toContain('those of 2 sagas below it');
});

test.each(CASES)('$what: named', async ({ edit, named }) => {
  await edit();
  const message = await verify();
  for (const one of named) expect(message).toMatch(one);
});
