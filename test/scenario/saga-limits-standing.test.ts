/** What a saga leaves at its largest, on the services that would refuse it: told, alerted, and read page by page. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { entryItem, headItem } from '../../adapters/aws/sagas/saga-items.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { newHead } from '../../core/saga/run/new-head.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate } from '../../local/template.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { ledgerPages } from '../support/ledger-pages.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('saga-limits-standing');

const HASH = 'a'.repeat(64);
const KIB = 1024;

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(() => cloud.close());

const observe = async (sagaId: string) =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 40 })) as unknown as Observation;

describe('500 effects that nothing takes back, with the largest references, and more results than an answer holds', () => {
  const COUNT = 500;
  /** Of the largest size, 6.5 MB together. */
  const LARGE = 200;
  const sagaId = 'standing';
  const referenceOf = (n: number) => `${n}-`.padEnd(500, 'r');
  const AT = new Date().toISOString();

  /** What a saga leaves that failed after its last step: it unwinds, and there is nothing to unwind. */
  const facts = (): Fact[] => {
    const largest = 'x'.repeat(MAX_RESULT_BYTES - 2);
    const steps = Array.from({ length: COUNT }, (_, n): Fact[] => {
      const about = {
        direction: 'forward' as const,
        stepIndex: n,
        step: `s${n}`,
        tool: 'mail',
        version: '1',
        epoch: 0,
        attempt: 1,
        idempotencyKey: `${sagaId}:${n}`,
      };
      return [
        {
          ...about,
          status: 'started',
          effect: 'irreversible',
          deadlineMs: Date.parse(AT) + 1000,
          argumentsHash: 'h',
          arguments: { text: 'x' },
        },
        {
          ...about,
          status: 'committed',
          result: n < LARGE ? largest : 'x',
          externalRef: referenceOf(n),
        },
      ];
    });
    const error = { name: 'Full', message: 'm'.repeat(4000) };
    return [
      {
        direction: 'saga',
        status: 'started',
        planHash: HASH,
        inputHash: HASH,
        stepCount: COUNT + 1,
        requestHash: HASH,
      },
      ...steps.flat(),
      {
        direction: 'saga',
        status: 'unwinding',
        failure: { step: 'last', tool: 'store', error, outcome: 'rejected' },
      },
    ];
  };

  const seed = async (): Promise<void> => {
    const hashes = { requestHash: HASH, planHash: HASH, inputHash: HASH };
    const { head, entries } = newHead({ sagaId, ...hashes, requestedBy: 'engine' }, facts(), AT);
    const client = DynamoDBDocumentClient.from(new DynamoDBClient());
    const put = (table: string, items: object[]) =>
      client.send(
        new BatchWriteCommand({ RequestItems: { [table]: items.map((Item) => ({ PutRequest: { Item } })) } }),
      );
    const ledger = cloud.environment['WALKBACK_LEDGER_TABLE'] ?? '';
    for (let from = 0; from < entries.length; from += 25) {
      await put(ledger, entries.slice(from, from + 25).map(entryItem));
    }
    await put(cloud.environment['WALKBACK_SAGAS_TABLE'] ?? '', [headItem(head)]);
    client.destroy();
  };

  const drive = async (): Promise<void> => {
    const [machine] = planCloud(await loadTemplate()).stateMachines;
    const sfn = new SFNClient();
    await sfn.send(
      new StartExecutionCommand({
        stateMachineArn: machine?.stateMachineArn,
        name: `${sagaId}-g1`,
        input: JSON.stringify({ sagaId, generation: 1 }),
      }),
    );
    sfn.destroy();
  };

  beforeAll(async () => {
    await seed();
    await drive();
  });

  test('are all told by describe-saga', async () => {
    const seen = await observe(sagaId);
    expect(seen.status).toBe('COMPENSATION_FAILED');
    expect(seen.notCompensated.map(({ externalRef }) => externalRef)).toEqual(
      Array.from({ length: COUNT }, (_, n) => referenceOf(n)),
    );
  });

  test('are alerted with a message and a subject that SNS takes, which says how many more there are', async () => {
    const alerts = () => cloud.events().filter(({ kind }) => kind === 'notification');
    await expect.poll(() => alerts().length, { timeout: 60_000 }).toBe(1);
    const [alert] = alerts();
    expect(alert?.type).toBe(`Walkback: compensation failed: ${sagaId}`);
    const message = String(alert?.body);
    expect(Buffer.byteLength(message)).toBeLessThan(256 * KIB);
    const named = message.match(/^- s\d+ /gm)?.length ?? 0;
    expect(named).toBeGreaterThan(300);
    expect(message).toContain(`... and ${COUNT - named} more`);
    expect(message).toContain(`walkback saga show ${sagaId}`);
    await cloud.settled();
    expect(cloud.events().map(({ type }) => type)).toContain('saga.compensation_failed');
  });

  test('are read page by page, of one saga, of a status and of a day, and the chain holds', async () => {
    const { rows, tip, largestBytes } = await ledgerPages(cloud, { sagaId });
    expect(largestBytes).toBeLessThan(2 * KIB * KIB);
    expect(findChainBreak(rows.map(fromRow), { seq: tip?.seq ?? 0, tip: tip?.hash ?? '' })).toBeUndefined();

    const ofStatus = await ledgerPages(cloud, { status: 'COMPENSATION_FAILED' }, 100);
    expect(ofStatus.largestBytes).toBeLessThan(2 * KIB * KIB);
    expect(ofStatus.rows.length).toBeLessThan(rows.length);
    expect(ofStatus.rows).toEqual(rows.slice(0, ofStatus.rows.length));

    const ofDay = await ledgerPages(cloud, { day: AT.slice(0, 10), status: 'committed' }, 100);
    expect(ofDay.largestBytes).toBeLessThan(3 * KIB * KIB);
    const mine = ofDay.rows.filter((row) => row.saga_id === sagaId);
    expect(mine.map(({ step_index: index }) => index)).toEqual(Array.from(mine, (_, n) => n));
    expect(mine.length).toBeGreaterThan(50);

    const csv = await cloud.invoke('query-ledger', { sagaId, format: 'csv', limit: 1000 });
    expect(csv['cursor']).toBeDefined();
  });

  test('a cursor of another query, or of none, is refused by name', async () => {
    const day = AT.slice(0, 10);
    const first = await cloud.invoke('query-ledger', { day, limit: 1 });
    const ofDay = String(first['cursor']).split('|')[1];
    const key = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const cursor of [
      ofDay,
      key(null),
      key([]),
      key({ a: 1 }),
      key({ status: 'QUEUED' }),
      key({ day }),
    ]) {
      for (const query of [
        { name: 'list-sagas', event: { status: 'QUEUED', cursor } },
        { name: 'query-ledger', event: { status: 'QUEUED', cursor } },
        { name: 'query-ledger', event: { externalRef: 'r', cursor } },
        { name: 'query-ledger', event: { view: 'effects', externalRef: 'r', cursor } },
        { name: 'query-ledger', event: { day: '2020-01-01', cursor: `2020-01-01|${cursor}` } },
      ]) {
        const asked = cloud.invoke(query.name, query.event);
        await expect(asked, JSON.stringify(query)).rejects.toMatchObject({
          errorType: 'InvalidInput',
          message: expect.stringContaining('cursor: '),
        });
      }
    }
  });
});
