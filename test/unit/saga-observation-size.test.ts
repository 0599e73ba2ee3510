/** What the model is told of a saga with as many children as one step may have. */
import { expect } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText, sagaTree } from '../../cli/view/saga-views.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { MIB } from '../../contract/sizes.ts';
import { MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';
import { RETRY, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';
import { put, ROOT, type TreeSaga, treeSaga } from '../support/tree-saga.ts';

const test = inTurn('saga-observation-size');

const COUNT = 40;

const wide = (step: object) => ({
  steps: [
    {
      id: 'orders',
      each: `{% [1..${COUNT}] %}`,
      plan: { steps: [put('work'), { ...put('more'), ...step }] },
    },
    put('last', { fail: true }),
  ],
});

const told = (saga: TreeSaga): Promise<Observation> =>
  createDescribe({ store: saga.store, clock: saga.clock })(ROOT);

const kilobytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) / 1024;

test('forty children take a line each, and detail only where something is to be done', async () => {
  let asked = 0;
  let waiting: Observation | undefined;
  const saga = await treeSaga({
    plan: wide({ approval: { timeoutSeconds: 3600 } }),
    onAwait: async ({ sagaId, step }) => {
      asked += 1;
      // All of them have asked.
      if (asked === 1) waiting = await told(saga);
      await saga.machine.answer({ sagaId, stepId: step, decision: 'approve', by: 'ada' });
      return true;
    },
  });
  await saga.run();
  const undone = await told(saga);
  expect(undone).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
  expect(undone.children).toHaveLength(COUNT);

  const stuck = await treeSaga({ plan: wide(put('more', { stuck: true })) });
  await stuck.run();
  const failed = await told(stuck);
  expect(failed).toMatchObject({ status: 'COMPENSATION_FAILED' });
  const sizes = { waiting: kilobytes(waiting), undone: kilobytes(undone), failed: kilobytes(failed) };
  process.stdout.write(`observation of ${COUNT} children, KiB: ${JSON.stringify(sizes)}\n`);
  expect(waiting?.children).toHaveLength(COUNT);
  expect(waiting?.awaitingBelow?.length).toBeGreaterThan(0);
  expect(failed.children).toHaveLength(COUNT);
  // Of a step: its place and reference, never a result or arguments without a bound.
  for (const size of Object.values(sizes)) expect(size).toBeLessThan(20);
});

test('approvals are counted also below more sagas than are told', async () => {
  const asking = { steps: [{ ...put('work'), approval: { timeoutSeconds: 3600 } }] };
  const orders = { steps: [{ id: 'orders', each: `{% [1..${COUNT}] %}`, plan: asking }] };
  const branches = Array.from({ length: 6 }, (_, index) => ({ id: `b${index}`, plan: orders }));
  let seen: Observation | undefined;
  const saga = await treeSaga({
    plan: { steps: [{ id: 'all', branches }] },
    onAwait: async ({ sagaId, step }) => {
      seen ??= await told(saga);
      await saga.machine.answer({ sagaId, stepId: step, decision: 'approve', by: 'ada' });
      return true;
    },
  });
  await saga.run();
  expect(seen?.children).toHaveLength(200);
  // Six branches, and what each of them runs.
  expect(seen?.childrenNotListed).toBe(6 * (COUNT + 1) - 200);
  if (seen === undefined) return;
  for (const text of [sagaTree(seen, createPaint(false)), observationText(seen, createPaint(false), 80)])
    expect(text).toContain('46 more sagas below');
  expect([seen?.awaitingBelow?.length, seen?.awaitingBelowNotListed]).toEqual([20, 6 * COUNT - 20]);
});

test('a saga that was rewound again and again tells what an answer has room for, and counts the rest', async () => {
  const STEPS = 120;
  const REWINDS = 6;
  // Six bytes each, as JSON.
  const wide = '\u0001';
  const steps = Array.from({ length: STEPS }, (_, n) => ({ id: `s${n}`, tool: 'book', arguments: {} }));
  const saga = await scriptedSaga({
    tools: [scriptedTool('book', 'partial')],
    steps,
    answer: ({ operation, step }) => ({
      Payload: {
        outcome: 'committed',
        result: {},
        ...(operation === 'execute' ? { externalRef: `${step} ${wide.repeat(490)}` } : {}),
        ...(operation === 'compensate' && step !== 's1' ? { residue: wide.repeat(1000) } : {}),
      },
    }),
  });
  await saga.run();
  for (let n = 0; n < REWINDS; n += 1) {
    await saga.machine.rewind({ sagaId: SAGA, to: { steps: STEPS }, requestId: `rw-${n}`, by: 'rita' });
    await saga.machine.settle();
  }
  const describe = createDescribe({ store: saga.store, clock: saga.clock });
  const seen = await describe(SAGA);
  // A call of Lambda answers 6 MB at most.
  expect(jsonBytes(seen)).toBeLessThan(5.6 * MIB);
  expect(seen.committed).toHaveLength(STEPS);
  expect(seen).not.toHaveProperty('committedNotListed');
  const { compensated, compensatedNotListed = 0 } = seen;
  expect(compensatedNotListed).toBeGreaterThan(0);
  expect(compensated.length + compensatedNotListed).toBe(STEPS * REWINDS);
  // The last of what left something: what left nothing is left out first.
  expect(compensated.map(({ step }) => step)).not.toContain('s1');
  expect(compensated.at(-1)).toMatchObject({ step: 's119', epoch: REWINDS - 1 });
  expect(compensated.filter(({ epoch }) => epoch === REWINDS - 1)).toHaveLength(STEPS - 1);
  expect(observationText(seen, createPaint(false), 80)).toContain(
    `${compensatedNotListed} more were taken back`,
  );
  // While it runs, nothing of it counts.
  await saga.machine.rewind({ sagaId: SAGA, to: { steps: 1 }, requestId: 'rw-last', by: 'rita' });
  expect(await describe(SAGA, 0, 'settled')).not.toHaveProperty('compensatedNotListed');
});

longTest(
  'a thousand effects that nobody could undo fit one answer, each with its reference and a reason',
  async () => {
    const wideText = '漢'.repeat(4000);
    const steps = Array.from({ length: MAX_STEPS - 1 }, (_, n) => ({
      id: `s${n}`,
      tool: 'charge',
      arguments: { n },
    }));
    const compensation = { name: 'undo', timeoutSeconds: 10, retry: { ...RETRY, maxAttempts: 1 } };
    const saga = await scriptedSaga({
      tools: [
        scriptedTool('charge', 'compensatable', {
          compensation,
          resourceKey: `'${'漢'.repeat(490)}' & $string(n)`,
        }),
        scriptedTool('stop', 'read'),
      ],
      steps: [...steps, { id: 'stop', tool: 'stop', arguments: {} }],
      answer: ({ operation, step }) =>
        operation === 'execute' && step !== 'stop'
          ? { Payload: { outcome: 'committed', result: {}, externalRef: '漢'.repeat(500) } }
          : {
              Payload: {
                outcome: 'rejected',
                retryable: false,
                error: { name: 'Refused', message: wideText },
              },
            },
    });
    await saga.run();
    const { observation } = await saga.seen();
    expect(observation.notCompensated).toHaveLength(steps.length);
    for (const { reason, externalRef } of observation.notCompensated) {
      expect(externalRef).toHaveLength(500);
      expect(reason).toMatch(/^compensation failed: Refused: 漢{300,}$/u);
    }
    // A call of Lambda answers 6 MB at most.
    expect(jsonBytes(observation)).toBeLessThan(5.5 * MIB);
  },
);
