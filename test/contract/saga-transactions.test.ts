/** One move of a saga is one transaction: as many and as large entries as it may have are taken by the service, and more are not. */
import { describe, expect, test } from 'vitest';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import { MAX_FACTS } from '../../core/saga/decide/decide.ts';
import { boundedMarks, resourceMark } from '../../core/saga/decide/resource-marks.ts';
import { chain } from '../../core/saga/entries/hash-chain.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { MAX_CHILDREN, MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { openSagaTables } from '../support/saga-tables.ts';
import { scriptedTool } from '../support/scripted-saga.ts';
import { shared } from '../support/shared.ts';

const opened = shared(openSagaTables);
const store = shared(() => createSagaStore(opened().tables));

const STEP = { stepIndex: 0, step: 's', tool: 'pay', version: '1', epoch: 0 };
const ATTEMPT = { ...STEP, attempt: 1, idempotencyKey: 'k'.repeat(64) };

const committed = { ...ATTEMPT, direction: 'forward', status: 'committed', result: null } satisfies Fact;
/** As large as what a tool is given and answers may be. */
const large: Fact[] = [
  {
    ...ATTEMPT,
    direction: 'forward',
    status: 'started',
    effect: 'compensatable',
    deadlineMs: 1,
    argumentsHash: 'a'.repeat(64),
    arguments: { text: 'x'.repeat(MAX_RESULT_BYTES) },
  },
  { ...committed, result: 'x'.repeat(MAX_RESULT_BYTES), externalRef: 'r'.repeat(500) },
];
/** As large as an error's message may be. */
const failed: Fact = {
  ...STEP,
  direction: 'undo',
  status: 'failed',
  error: { name: 'n'.repeat(200), message: 'm'.repeat(4000) },
};

const start = async (sagaId: string): Promise<SagaHead> => {
  await store().putTool(scriptedTool('pay', 'compensatable'));
  const started = createStartSaga({
    store: store(),
    engine: { start: async () => 'started', look: async () => 'running', wake: async () => true },
    clock: virtualClock(),
    evaluate: createEvaluator(),
  });
  await started({
    sagaId,
    plan: { steps: [{ id: 's', tool: 'pay', arguments: {} }] },
    input: {},
    requestedBy: 'me',
  });
  return (await store().getHead(sagaId)) ?? expect.unreachable('no head');
};

/** More resources than one saga touches, as agents below it may. */
const MANY = Object.fromEntries(
  Array.from({ length: 20 * MAX_STEPS }, (_, n) => [resourceMark(`r${n}`), Date.UTC(2026, 0, 1) + n]),
);

const childEnded = (index: number): Fact => {
  const child = {
    index,
    branch: `b${index}`,
    sagaId: `child-${index}`,
    status: 'COMPENSATED' as const,
    seq: 9,
    tip: 'h'.repeat(64),
    error: { name: 'n'.repeat(100), message: 'm'.repeat(4000) },
    resources: boundedMarks(MANY),
  };
  return { ...STEP, direction: 'child', status: 'ended', child };
};

const appendFacts = async (sagaId: string, facts: readonly Fact[]) => {
  const head = await start(sagaId);
  const { entries, tip } = chain(sagaId, head, facts, { at: new Date(0).toISOString(), actor: 'engine' });
  return store().append(
    { ...head, ...tip, version: head.version + 1, requestedBy: 'w'.repeat(200) },
    head.version,
    entries,
  );
};

const append = (sagaId: string, count: number) =>
  appendFacts(sagaId, [...large, ...Array.from({ length: count - large.length }, () => failed)]);

describe('a move', () => {
  test('with the most and the largest entries it may have is taken', async () => {
    // One decision more than the limit may still add the facts of one event.
    expect(await append('most', MAX_FACTS + 5)).toMatchObject({ written: true });
    expect(await store().listEntries('most')).toHaveLength(1 + MAX_FACTS + 5);
  });

  test('is taken when all children of a step end at once', async () => {
    const ends = Array.from({ length: MAX_CHILDREN }, (_, index) => childEnded(index));
    expect(await appendFacts('ends', ends)).toMatchObject({ written: true });
  });

  test.each([
    ['of more entries than a transaction has', Array.from({ length: 100 }, () => failed)],
    [
      'with an entry larger than an item',
      [{ ...failed, error: { name: 'n', message: 'm'.repeat(410_000) } }],
    ],
    ['with half of a character', [{ ...failed, error: { name: 'n', message: '\ud83d' } }]],
    ['with a reference that is no key of an index', [failed, { ...committed, externalRef: '' }]],
  ] satisfies [string, Fact[]][])('%s is never taken, and the store says so', async (what, facts) => {
    expect(await appendFacts(what, facts)).toEqual({
      written: false,
      unstorable: expect.stringMatching(/DynamoDB/),
    });
    expect(await store().listEntries(what)).toHaveLength(1);
  });
});
