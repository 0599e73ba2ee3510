/** The embedded cloud exports the ledger as a deployed one does: the same function, fed by the same stream, into a bucket. */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createExportStore } from '../../adapters/aws/sagas/export-store.ts';
import { type LedgerEffect, type LedgerTotals, ledgerEffect } from '../../contract/ledger-answers.ts';
import type { SagaStatus } from '../../contract/saga-observation.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import { loadTemplate } from '../../local/template.ts';
import { openTable } from '../support/ledger-export.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { commandOn, s3Of } from '../support/tampering.ts';

let sagas: SagaCloud;
let s3: S3Client;
let command: ReturnType<typeof commandOn>;
let Bucket: string;

beforeAll(async () => {
  sagas = await startSagaCloud();
  s3 = s3Of(sagas.cloud);
  command = commandOn(sagas.cloud);
  Bucket = openTable(await loadTemplate(), 'effects').bucket;
});
afterAll(async () => {
  command.close();
  s3.destroy();
  await sagas.close();
});

const objects = async (): Promise<Map<string, string>> => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  const read = async (Key: string): Promise<[string, string]> => [
    Key,
    (await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()) ?? '',
  ];
  return new Map(await Promise.all(Contents.map(({ Key = '' }) => read(Key))));
};

const ends = (sagaId: string, status: SagaStatus) =>
  vi.waitUntil(async () => (await sagas.observe(sagaId)).status === status, 300_000);

const ask = async (argv: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await command.run([...argv, '--json'])).stdout);

/** Sums of the lines, of a reader that knows only what the tables say. */
const exportedTotals = async () => {
  const template = await loadTemplate();
  const stored = await objects();
  const now = new Date().toISOString();
  const failed = openTable(template, 'reconciliations').rows(stored, now);
  const totals = createTotals();
  for (const line of openTable(template, 'effects').rows(stored, now)) {
    const ofSaga = failed.filter((one) => one['saga_id'] === line['saga_id']);
    totals.add(
      ledgerEffect().parse(line),
      ofSaga.map((one) => ({
        sagaId: String(one['saga_id']),
        failedAt: String(one['failed_at']),
        reconciledAt: one['reconciled_at'] === null ? null : String(one['reconciled_at']),
        seconds: one['seconds'] === null ? null : Number(one['seconds']),
      })),
    );
  }
  return totals.end();
};

test('what was done, undone, failed and resolved is in the bucket, with the totals of the ledger', async () => {
  const { cloud, faults } = sagas;
  await sagas.start('done');
  await ends('done', 'COMPLETED');
  faults.refuseMail = true;
  await sagas.start('undone');
  await ends('undone', 'COMPENSATED');
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  for (const sagaId of ['failed', 'resolved']) {
    await sagas.start(sagaId);
    await ends(sagaId, 'COMPENSATION_FAILED');
  }
  const { notCompensated } = await sagas.observe('resolved');
  for (const { step: stepId } of notCompensated) {
    const by = { by: 'olga', evidence: 'booked by hand' };
    await cloud.invoke('operate-saga', { sagaId: 'resolved', action: 'resolve', stepId, ...by });
  }
  await ends('resolved', 'COMPENSATED');
  await cloud.settled();
  const { totals } = await ask(['ledger', 'query', '--totals']);
  expect(await exportedTotals()).toEqual(totals);
  const { reconciliations, all } = totals as LedgerTotals;
  expect(reconciliations.map(({ sagaId, seconds }) => [sagaId, seconds !== null])).toEqual([
    ['failed', false],
    ['resolved', true],
  ]);
  expect(all.some(({ out }) => out.undone !== '0')).toBe(true);
  // Finance finds what was undone by hand beside what compensators took back, and each of its rows with the evidence.
  expect(notCompensated.length).toBeGreaterThan(0);
  expect(all.reduce((sum, { byHandEffects }) => sum + byHandEffects, 0)).toBe(notCompensated.length);
  const { effects } = await ask(['ledger', 'query', '--effects', '--status', 'resolved']);
  const byHand = effects as LedgerEffect[];
  expect(byHand.map(({ evidence }) => evidence)).toEqual(notCompensated.map(() => 'booked by hand'));
  for (const total of all) {
    const moved = byHand.filter(({ currency }) => currency === total.currency);
    expect([total.currency, total.byHandEffects]).toEqual([total.currency, moved.length]);
    const byHandAmount = [total.in, total.out, total.neither].reduce(
      (sum, one) => sum + Number(one.byHand),
      0,
    );
    expect(byHandAmount).toBe(moved.reduce((sum, { amount }) => sum + Number(amount ?? 0), 0));
  }
});

test('an object that is lost is there again after a backfill, and those that are there are kept', async () => {
  const before = await objects();
  const [lost = ''] = before.keys();
  await s3.send(new DeleteObjectCommand({ Bucket, Key: lost }));
  const today = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  expect(await ask(['ledger', 'backfill', '--from', today])).toMatchObject({
    written: 1,
    kept: before.size - 1,
  });
  expect(await objects()).toEqual(before);
});

test('what somebody else put in the place of an object is replaced, and an older one is not', async () => {
  const store = createExportStore({ bucket: Bucket, client: s3 });
  const [key = ''] = (await objects()).keys();
  const found = await store.find(key);
  expect(found?.seq).toBeGreaterThan(0);
  expect(found?.form).toBe(1);
  // Of a reader who looked before another wrote.
  expect(await store.put({ key, seq: 99, form: 2, body: 'x\n' }, { seq: 0, form: 2, version: '"0"' })).toBe(
    false,
  );
  expect(await store.put({ key, seq: 99, form: 2, body: 'x\n' }, undefined)).toBe(false);
  await s3.send(new PutObjectCommand({ Bucket, Key: key, Body: 'theirs' }));
  const theirs = await store.find(key);
  expect([theirs?.seq, theirs?.form]).toEqual([-1, -1]);
  expect(await store.put({ key, seq: 1, form: 2, body: 'ours\n' }, theirs)).toBe(true);
  expect(await store.find('effects/day=2026-01-01/nobody.json')).toBeUndefined();
});
