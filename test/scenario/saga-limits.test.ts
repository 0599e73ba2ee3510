/** Arguments, results and plans at their largest, on the services that would refuse them. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import * as z from 'zod';
import type { Observation } from '../../contract/saga-observation.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { MAX_CHILDREN, MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import { canonicalJson } from '../../core/shared/canonical-json.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { answered } from '../support/error-of.ts';
import { serveHttpTools } from '../support/http-tools.ts';
import { ledgerPages } from '../support/ledger-pages.ts';
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
    const { rows, tip } = await ledgerPages(cloud, { sagaId: 'full' });
    const result = rows.map(fromRow).find((entry) => entry.status === 'committed' && 'result' in entry);
    expect(JSON.stringify(result && 'result' in result ? result.result : '')).toHaveLength(MAX_RESULT_BYTES);
    expect(findChainBreak(rows.map(fromRow), { seq: tip?.seq ?? 0, tip: tip?.hash ?? '' })).toBeUndefined();
  });

  test('over it by a byte: arguments are refused before the start, or when they are resolved', async () => {
    const over = padded(MAX_RESULT_BYTES + 1);
    await expect(start('over', [step('one', over)])).rejects.toMatchObject(
      answered('PlanRefused', 'arguments-too-large'),
    );
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
    const { rows } = await ledgerPages(cloud, { sagaId: 'half' });
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
    await expect(start('longest', small)).rejects.toMatchObject(
      answered('PlanRefused', `at most ${MAX_STEPS} steps`),
    );
  });

  test('of the largest steps fit their items; a larger step is refused', async () => {
    // An expression is text that counts, whatever it makes.
    const wide = (bytes: number) => ({ text: `{% /*${'c'.repeat(bytes)}*/ "x" %}` });
    const steps = Array.from({ length: 8 }, (_, n) => step(`w${n}`, wide(47 * KIB)));
    await start('wide', steps);
    expect(await observe('wide')).toMatchObject({ status: 'COMPLETED' });
    await expect(start('wider', [step('w', wide(48 * KIB))])).rejects.toMatchObject(
      answered('PlanRefused', 'step-too-large'),
    );
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
      await expect(begin('refused', 10.5 * KIB)).rejects.toMatchObject(
        answered('PlanRefused', 'step each: too-many-children'),
      );
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
      answered('CatalogRefused', 'definition huge@1: takes'),
    );
  });
});
