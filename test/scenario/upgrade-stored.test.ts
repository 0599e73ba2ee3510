/**
 * Straight-line sagas as the release before live sagas stored them (format 1), in the middle of a call whose answer was lost:
 * this release takes them over, one forward and one back. The items are as that release wrote them; nothing of this one made them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addOrder, startSagaCloud } from '../support/saga-cloud.ts';
import { type Attributes, openTables } from '../support/tampering.ts';

const STORED = join(import.meta.dirname, '../support/stored/sagas-of-format-1.json');

interface Stored {
  /** What the providers showed of the two sagas then: refund, ticket, and the booking whose answer was lost. */
  world: { refunds: object[]; tickets: object[]; entries: object[] };
  sagas: Record<string, { table: 'sagas' | 'ledger'; item: Attributes }[]>;
}

const bytes = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'base64' in value
    ? new Uint8Array(Buffer.from(String(value.base64), 'base64'))
    : value;

test('sagas of the format before, in flight with a lost answer, go on and go back', async () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of this repository
  const stored = JSON.parse(await readFile(STORED, 'utf8'), bytes) as Stored;
  const sagas = await startSagaCloud();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => sagas.close());
  const tables = openTables(sagas.cloud);
  cleanup.defer(() => tables.close());
  const ids = Object.keys(stored.sagas);
  expect(ids).toEqual(['finishes', 'undone']);
  const { stripe, zendesk, netsuite } = sagas.server.world;
  for (const id of ids) addOrder(sagas.server, id);
  Object.assign(stripe.state.refunds, stored.world.refunds);
  Object.assign(zendesk.state.tickets, stored.world.tickets);
  Object.assign(netsuite.state.entries, stored.world.entries);
  for (const items of Object.values(stored.sagas)) {
    for (const { table, item } of items) await tables.put({ table: tables[table], item });
  }
  expect((await tables.of('finishes')).find(({ item }) => item['sk']?.S === 'HEAD')?.item).toMatchObject({
    format: { N: '1' },
    state: { S: expect.stringContaining('"stage":"invoking"') },
  });

  await sagas.cloud.invoke('operate-saga', { sagaId: 'undone', action: 'cancel', by: 'ada' });
  await sagas.cloud.invoke('sweep', {});
  expect(await sagas.observe('finishes')).toMatchObject({ status: 'COMPLETED' });
  expect(await sagas.observe('undone')).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
  // Nothing was done again that was done then, and the straight line stays readable for the release before.
  expect(sagas.standing()).toEqual({ refunds: 1, tickets: 1, booked: -2500, mails: 1 });
  expect(stripe.state.refunds).toHaveLength(2);
  for (const id of ids) {
    expect(await sagas.isSound(id)).toBe(true);
    const head = (await tables.of(id)).find(({ item }) => item['sk']?.S === 'HEAD')?.item;
    expect(head?.['format']).toEqual({ N: '1' });
  }
});
