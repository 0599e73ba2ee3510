/** Sagas at their largest, on the services that would refuse them. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import * as z from 'zod';
import { entryItem, headItem } from '../../adapters/aws/sagas/saga-items.ts';
import type { LedgerRow, Observation } from '../../contract/saga-answers.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { chain, findChainBreak, GENESIS_HASH } from '../../core/saga/ledger/hash-chain.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { canonicalJson } from '../../core/saga/plan/json.ts';
import { MAX_CHILDREN, MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/tools/tool-protocol.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate } from '../../local/template.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { serveHttpTools } from '../support/http-tools.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('saga-limits');

const HASH = 'a'.repeat(64);
const KIB = 1024;
/** What stands at the provider. */
const standing = new Set<string>();

const store = defineTool({
  name: 'store',
  version: '1',
  description: 'Keeps a text and answers with one',
  effect: 'compensatable',
  timeoutSeconds: 5,
  input: z.strictObject({
    text: z.string(),
    answerBytes: z.int().optional(),
    refuse: z.boolean().optional(),
  }),
  output: z.string(),
  execute: async ({ answerBytes = 2, refuse = false }, call) => {
    if (refuse) throw new ToolRejected('Full', 'There is no room left.');
    standing.add(call.idempotencyKey);
    // As JSON, a text is two bytes longer.
    return 'r'.repeat(answerBytes - 2);
  },
  compensate: {
    name: 'forget',
    execute: async (_, call) => void standing.delete(call.forwardKey),
  },
});

const disposal = new AsyncDisposableStack();
let cloud: TestCloud;
beforeAll(async () => {
  cloud = disposal.use(await startTestCloud());
  const served = await serveHttpTools(cloud, [store]);
  disposal.defer(() => void served.close());
});
afterAll(() => disposal.disposeAsync());

const start = (sagaId: string, steps: unknown[], input: unknown = {}) =>
  cloud.invoke('start-saga', { sagaId, plan: { steps }, input, requestedBy: 'agent-7' });
const observe = async (sagaId: string) =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 40 })) as unknown as Observation;

/** Arguments of exactly this size. */
const padded = (sizeBytes: number, more: object = {}) => {
  const empty = Buffer.byteLength(canonicalJson({ ...more, text: '' }));
  return { ...more, text: 'a'.repeat(sizeBytes - empty) };
};
const step = (id: string, given: object) => ({ id, tool: 'store', arguments: given });

/** The pages of a query, up to so many rows, and the size of the largest answer. */
const pagesOf = async (query: object, enough = Number.POSITIVE_INFINITY) => {
  const rows: LedgerRow[] = [];
  let largestBytes = 0;
  let tip: { seq: number; hash: string } | undefined;
  let cursor: unknown;
  do {
    const page = await cloud.invoke('query-ledger', {
      ...query,
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    largestBytes = Math.max(largestBytes, Buffer.byteLength(JSON.stringify(page)));
    rows.push(...(page['entries'] as LedgerRow[]));
    tip = page['tip'] as typeof tip;
    ({ cursor } = page);
  } while (cursor !== undefined && rows.length < enough);
  return { rows, tip, largestBytes };
};

describe('arguments and results', () => {
  const full = () => padded(MAX_RESULT_BYTES, { answerBytes: MAX_RESULT_BYTES });

  test('at their largest go through the machine, forth and back', async () => {
    await start('full', [step('one', full()), step('two', padded(MAX_RESULT_BYTES, { refuse: true }))]);
    expect(await observe('full')).toMatchObject({
      status: 'COMPENSATED',
      failed: { step: 'two', error: { name: 'Full' } },
      compensated: [{ step: 'one' }],
    });
    expect(standing.size).toBe(0);
    const { rows, tip } = await pagesOf({ sagaId: 'full' });
    const result = rows.map(fromRow).find((entry) => entry.status === 'committed' && 'result' in entry);
    expect(JSON.stringify(result && 'result' in result ? result.result : '')).toHaveLength(MAX_RESULT_BYTES);
    expect(findChainBreak(rows.map(fromRow), { seq: tip?.seq ?? 0, tip: tip?.hash ?? '' })).toBeUndefined();
  });

  test('over it by a byte: arguments are refused before the start, or when they are resolved', async () => {
    const over = padded(MAX_RESULT_BYTES + 1);
    await expect(start('over', [step('one', over)])).rejects.toMatchObject({
      errorType: 'PlanRefused',
      message: expect.stringContaining('arguments-too-large'),
    });
    const result = { text: '{% steps.one.result & "longer" %}' };
    await start('grown', [step('one', full()), step('two', result)]);
    expect(await observe('grown')).toMatchObject({
      status: 'COMPENSATED',
      failed: { step: 'two', error: { name: 'InvalidArguments' } },
    });
  });

  test('half a character that an expression makes is kept as U+FFFD, and a failure that names one is told', async () => {
    const half = '{% $split(input, "")[0] %}';
    const first = step('first', { text: 'x' });
    const kept = [first, step('half', { text: half })];
    await cloud.invoke('start-saga', {
      sagaId: 'half',
      plan: { steps: kept, output: half },
      input: '😀',
      requestedBy: 'agent-7',
    });
    expect(await observe('half')).toMatchObject({ status: 'COMPLETED' });
    const { rows } = await pagesOf({ sagaId: 'half' });
    expect(rows.at(-1)).toMatchObject({ detail: expect.stringContaining('"output":"\uFFFD"') });
    const told = '{% $error($split(steps.first.result & "😀", "")[2]) %}';
    await start('told', [first, step('half', { text: told })], '😀');
    expect(await observe('told')).toMatchObject({
      status: 'COMPENSATED',
      failed: { step: 'half', error: { name: 'ArgumentsUnresolved' } },
    });
    standing.clear();
  });

  test('over it by a byte: a result took effect, so its step is taken back', async () => {
    await start('result', [step('one', { text: 'a', answerBytes: MAX_RESULT_BYTES + 1 })]);
    expect(await observe('result')).toMatchObject({
      status: 'COMPENSATED',
      failed: { step: 'one', error: { name: 'ResultTooLarge' } },
      compensated: [{ step: 'one' }],
    });
    expect(standing.size).toBe(0);
  });
});

describe('plans', () => {
  const approval = { timeoutSeconds: 3600 };

  test('with the most steps one request can carry start, wait, and go back', async () => {
    const steps = Array.from({ length: MAX_STEPS }, (_, n) => ({
      ...step(`s${n}`, padded(5600)),
      ...(n === 2 ? { approval } : {}),
    }));
    await start('long', steps);
    expect(await observe('long')).toMatchObject({ status: 'AWAITING', awaiting: { step: 's2' } });
    await cloud.invoke('answer', { sagaId: 'long', stepId: 's2', decision: 'reject', by: 'ada' });
    const seen = await observe('long');
    expect(seen).toMatchObject({ status: 'COMPENSATED', failed: { error: { name: 'ApprovalDeclined' } } });
    expect(seen.compensated.map((one) => one.step)).toEqual(['s0', 's1']);
    const small = [...steps.map(({ id }) => step(id, { text: 'x' })), step('last', { text: 'x' })];
    await expect(start('longest', small)).rejects.toMatchObject({
      errorType: 'PlanRefused',
      message: expect.stringContaining(`at most ${MAX_STEPS} steps`),
    });
  });

  test('of the largest steps fit their items; a larger step is refused', async () => {
    // An expression is text that counts, whatever it makes.
    const wide = (bytes: number) => ({ text: `{% /*${'c'.repeat(bytes)}*/ "x" %}` });
    const steps = Array.from({ length: 8 }, (_, n) => step(`w${n}`, wide(47 * KIB)));
    await start('wide', steps);
    expect(await observe('wide')).toMatchObject({ status: 'COMPLETED' });
    await expect(start('wider', [step('w', wide(48 * KIB))])).rejects.toMatchObject({
      errorType: 'PlanRefused',
      message: expect.stringContaining('step-too-large'),
    });
  });

  describe('with children that are named with a long output', () => {
    const list = Array.from({ length: MAX_CHILDREN }, (_, n) => n);
    const outputOf = (bytes: number) => `{% /*${'c'.repeat(bytes)}*/ 1 %}`;
    /** What the entry that names them says of inputs and children, with an output of so many bytes. */
    const namedBytes = (sagaId: string, bytes: number) =>
      jsonBytes(Object.fromEntries(list.map((n) => [n, n]))) +
      jsonBytes(
        list.map((n) => ({
          branch: String(n),
          sagaId: `${sagaId}.each.${n}`,
          planHash: HASH,
          inputHash: HASH,
          stepCount: 1,
          output: { value: outputOf(bytes), uses: [] },
        })),
      );
    const largest = (sagaId: string) => Math.floor((396 * KIB - namedBytes(sagaId, 0)) / MAX_CHILDREN);
    const begin = (sagaId: string, bytes: number) =>
      start(
        sagaId,
        [
          step('first', { text: 'x' }),
          {
            id: 'each',
            each: '{% input %}',
            plan: { steps: [step('one', { text: 'x' })], output: outputOf(bytes) },
          },
        ],
        list,
      );

    test('at their largest they fit the entry', async () => {
      await begin('named', largest('named'));
      expect(await observe('named')).toMatchObject({ status: 'COMPLETED' });
    });

    test('over it by a byte each, the step is not begun, and what came before is taken back', async () => {
      standing.clear();
      await begin('namer', largest('namer') + 1);
      expect(await observe('namer')).toMatchObject({
        status: 'COMPENSATED',
        failed: { step: 'each', error: { name: 'TooManyChildren' } },
        compensated: [{ step: 'first' }],
      });
      expect(standing.size).toBe(0);
    });

    test('when their outputs alone are too large, the start is refused', async () => {
      await expect(begin('refused', 10.5 * KIB)).rejects.toMatchObject({
        errorType: 'PlanRefused',
        message: expect.stringContaining('step each: too-many-children'),
      });
    });
  });

  test('that the catalog cannot hold in one item are refused by name', async () => {
    const plan = { steps: Array.from({ length: 20 }, (_, n) => step(`s${n}`, padded(20 * KIB))) };
    const definition = {
      name: 'huge',
      version: '1',
      description: '',
      reviewBy: '2030-01-01',
      input: {},
      plan,
    };
    await expect(cloud.invoke('put-catalog', { tools: [], definitions: [definition] })).rejects.toMatchObject(
      {
        errorType: 'CatalogRefused',
        message: expect.stringContaining('definition huge@1: takes'),
      },
    );
  });
});

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
      { direction: 'saga', status: 'started', planHash: HASH, inputHash: HASH, stepCount: COUNT + 1 },
      ...steps.flat(),
      {
        direction: 'saga',
        status: 'unwinding',
        failure: { step: 'last', tool: 'store', error, outcome: 'rejected' },
      },
    ];
  };

  const seed = async (): Promise<void> => {
    const { entries, tip } = chain(sagaId, { seq: 0, tip: GENESIS_HASH }, facts(), {
      at: AT,
      actor: 'engine',
    });
    const head = {
      sagaId,
      ...tip,
      version: 1,
      state: fold(entries),
      requestHash: HASH,
      planHash: HASH,
      inputHash: HASH,
      // Who made the first entry.
      requestedBy: 'engine',
      historyEvents: 0,
      createdAt: AT,
      updatedAt: AT,
      statusSince: AT,
    };
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
    const { rows, tip, largestBytes } = await pagesOf({ sagaId });
    expect(largestBytes).toBeLessThan(2 * KIB * KIB);
    expect(findChainBreak(rows.map(fromRow), { seq: tip?.seq ?? 0, tip: tip?.hash ?? '' })).toBeUndefined();

    const ofStatus = await pagesOf({ status: 'COMPENSATION_FAILED' }, 100);
    expect(ofStatus.largestBytes).toBeLessThan(2 * KIB * KIB);
    expect(ofStatus.rows.length).toBeLessThan(rows.length);
    expect(ofStatus.rows).toEqual(rows.slice(0, ofStatus.rows.length));

    const ofDay = await pagesOf({ day: AT.slice(0, 10), status: 'committed' }, 100);
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
