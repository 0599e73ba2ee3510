/** A move that the table takes from nobody: what came before it is recorded, and the saga does not stand still with its effects. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KIB } from '../../contract/sizes.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { chosenSeed } from '../support/sampling.ts';
import { committed, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const REASON = 'an item over 400 KB';

/** A table that takes none of these entries, nor what comes with them. */
const refusing =
  (isRefused: (entry: LedgerEntry) => boolean) =>
  (store: SagaStore): SagaStore => ({
    ...store,
    append: async (head, version, entries, beside) =>
      entries.some(isRefused)
        ? { written: false, unstorable: REASON }
        : store.append(head, version, entries, beside),
  });

const starts =
  (...steps: string[]) =>
  (entry: LedgerEntry): boolean =>
    entry.direction === 'forward' && entry.status === 'started' && steps.includes(entry.step);

const tools = [scriptedTool('pay', 'compensatable')];
const payment = (id: string): PlanStep => ({ id, tool: 'pay', arguments: {} });

/** Pays `a`, and then comes to a step that cannot be stored. */
const run = async (steps: PlanStep[], isRefused: (entry: LedgerEntry) => boolean) => {
  const saga = await scriptedSaga({ tools, steps, answer: () => committed(), storing: refusing(isRefused) });
  await saga.run();
  const done = saga.requests.map(({ operation, step }) => `${operation} ${step}`);
  return { done, ...(await saga.seen()) };
};

const children: PlanStep = {
  id: 'b',
  branches: ['one', 'two'].map((id) => ({ id, plan: { steps: [payment('x')] } })),
};

describe('what a step begins with', () => {
  test.each([
    ['a tool', payment('b')],
    ['children', children],
  ])('%s: the payment before it is recorded, and taken back', async (_, step) => {
    const { done, state, entries, isSound } = await run([payment('a'), step, payment('c')], starts('b'));
    expect(state.status).toBe('COMPENSATED');
    expect(done).toEqual(['execute a', 'compensate a']);
    expect(state.failure).toMatchObject({
      step: 'b',
      error: { name: 'NotStorable', message: expect.stringContaining(REASON) },
    });
    expect(entries.filter(({ status }) => status === 'committed')).toHaveLength(2);
    expect(isSound).toBe(true);
  });

  test('of the first step: the saga ends with nothing done', async () => {
    const { done, state } = await run([payment('a')], starts('a'));
    expect(state.status).toBe('COMPENSATED');
    expect(done).toEqual([]);
  });

  test('whichever steps it is: each payment that was made is taken back, once', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    await fc.assert(
      fc.asyncProperty(fc.subarray(ids), async (refused) => {
        const { done, state, isSound } = await run(ids.map(payment), starts(...refused));
        const first = ids.findIndex((id) => refused.includes(id));
        const paid = first === -1 ? ids : ids.slice(0, first);
        const undone = first === -1 ? [] : paid.toReversed();
        expect(done).toEqual([
          ...paid.map((id) => `execute ${id}`),
          ...undone.map((id) => `compensate ${id}`),
        ]);
        expect(state.status).toBe(first === -1 ? 'COMPLETED' : 'COMPENSATED');
        expect(isSound).toBe(true);
      }),
      { numRuns: 16, seed: chosenSeed() },
    );
  });
});

test('an output: all is taken back, as with one that is too large', async () => {
  const saga = await scriptedSaga({
    tools,
    answer: () => committed(),
    storing: refusing(({ direction, status }) => direction === 'saga' && status === 'completed'),
  });
  const plan = { steps: [payment('a')], output: '{% steps.a.result %}' };
  await saga.machine.start({ sagaId: SAGA, plan, input: {}, requestedBy: 'me' });
  await saga.machine.settle();
  const { state } = await saga.seen();
  expect(state).toMatchObject({ status: 'COMPENSATED', failure: { error: { name: 'NotStorable' } } });
});

test('a step of an interactive saga: it is refused, and the next one is taken', async () => {
  const saga = await scriptedSaga({ tools, answer: () => committed(), storing: refusing(starts('large')) });
  await saga.beginInteractive();
  await saga.machine.submit({ sagaId: SAGA, stepId: 'large', tool: 'pay', arguments: {} });
  await saga.machine.settle();
  const { story, entries } = await saga.seen();
  expect(story).toContain('step refused');
  expect(entries.find(({ status }) => status === 'refused')).toMatchObject({
    error: { name: 'NotStorable' },
  });
});

test('where no other move helps, nothing is written and the error says why', async () => {
  const saga = await scriptedSaga({ tools, answer: () => committed(), storing: refusing(() => true) });
  await saga.begin();
  await expect(saga.machine.settle()).rejects.toMatchObject({
    name: 'InternalError',
    message: `The ledger of saga ${SAGA} does not take this move: ${REASON}`,
  });
  expect((await saga.seen()).story).toEqual(['saga started']);
});

test('an entry that is larger than an item is refused by the store of tests, too', async () => {
  const saga = await scriptedSaga({ tools, answer: () => committed() });
  await saga.begin();
  const { head, entries } = await saga.seen();
  const [first] = entries;
  const large = { ...first, seq: 1, requestedBy: 'w'.repeat(400 * KIB) };
  expect(await saga.store.append(head, head.version, [large as LedgerEntry])).toEqual({
    written: false,
    unstorable: expect.stringMatching(/an entry takes \d+ bytes/),
  });
});
