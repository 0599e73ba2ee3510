/** A step of a plan that an agent does: an interactive saga as a child. */
import { describe, expect, test } from 'vitest';
import { checkedEntry } from '../../adapters/aws/sagas/stored-entries.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { sagaTree } from '../../cli/view/saga-views.ts';
import type { JsonObject } from '../../contract/json.ts';
import { verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { agentStep, parsedAgentStep } from '../support/tree-agent.ts';
import { expectSettledTree, put, ROOT, type TreeSagaOptions, treeSaga } from '../support/tree-saga.ts';

const WORK = `${ROOT}.work`;
const HOUR_MS = 3_600_000;

const standing = ({ provider }: Awaited<ReturnType<typeof treeSaga>>) =>
  [...provider.standing.values()].map(({ resource }) => resource).toSorted();

const used: PlanStep = { id: 'after', tool: 'put', arguments: { key: '{% steps.work.result.made %}' } };

const run = async (options: TreeSagaOptions) => {
  const saga = await treeSaga(options);
  await saga.run();
  return { saga, status: expectSettledTree(saga) };
};

/** The plan waits for the agent, who does not come by itself. */
const waiting = async (work: PlanStep, more: Partial<TreeSagaOptions> = {}, ...after: PlanStep[]) => {
  const saga = await treeSaga({
    plan: { steps: [put('before'), work, ...after] },
    onQuiet: noAgent,
    ...more,
  });
  await saga.start();
  await saga.machine.execute(ROOT, 1);
  const submit = (id: string, given: Partial<ReturnType<typeof put>['arguments']> = {}, tool = 'put') =>
    saga.machine.submit({
      sagaId: WORK,
      stepId: id,
      tool,
      arguments: { ...put(id).arguments, ...given },
      waitSeconds: 20,
    });
  const close = (request: { outcome: 'complete' | 'unwind'; result?: JsonObject; reason?: string }) =>
    saga.machine.close({ sagaId: WORK, ...request });
  const describeOne = (sagaId: string) => createDescribe({ store: saga.store, clock: saga.clock })(sagaId);
  return { saga, submit, close, describeOne };
};

const noAgent = async () => false;

describe('a step that an agent does', () => {
  test('commits with what the agent closes it with, which later steps use', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [
          put('before'),
          agentStep('work', { steps: [put('one'), put('two')], gives: { made: 'k' } }),
          used,
        ],
        output: '{% steps.work.result %}',
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['before', 'k', 'one', 'two']);
    const entries = saga.memory.ledger.get(ROOT) ?? [];
    expect(entries.findLast((entry) => entry.status === 'completed')).toMatchObject({
      output: { made: 'k' },
    });
    expect(saga.headOf(WORK).state).toMatchObject({ status: 'COMPLETED', sealed: true });
  });

  test('is told with its id, its turn and its input, and no execution runs for it', async () => {
    const { saga, submit, close, describeOne } = await waiting(parsedAgentStep({}, { input: { order: 7 } }));
    expect(await saga.machine.engine.look(WORK, 1)).toBe('missing');
    const seen = await describeOne(ROOT);
    expect(seen.children).toEqual([
      { path: 'work', sagaId: WORK, status: 'RUNNING', interactive: 'next-step' },
    ]);
    expect(sagaTree(seen, createPaint(false))).toContain(`RUNNING  ${WORK} · waits for its next step`);
    expect((await describeOne(WORK)).interactive).toMatchObject({ what: 'next-step', input: { order: 7 } });
    await submit('one');
    await close({ outcome: 'complete' });
    expect((await describeOne(WORK)).interactive).toMatchObject({ what: 'closed' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(await saga.machine.engine.look(WORK, 1)).toBe('missing');
  });

  test('ends soon after it was closed, without the sweeper', async () => {
    const { saga, close } = await waiting(parsedAgentStep());
    const beganMs = saga.clock.nowMs();
    await close({ outcome: 'complete' });
    await saga.machine.settle();
    const ended = saga.memory.ledger.get(ROOT)?.find(({ status }) => status === 'completed');
    expect(Date.parse(ended?.at ?? '') - beganMs).toBeLessThan(30_000);
  });

  test('is rejected, clean, when the agent gives up: the plan is undone', async () => {
    const { saga, status } = await run({
      plan: { steps: [put('before'), agentStep('work', { steps: [put('one')], givesUp: true }), used] },
    });
    expect(status).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
    expect(saga.headOf(ROOT).state).toMatchObject({
      effects: [{ status: 'undone' }, { status: 'rejected' }],
      failure: { step: 'work', error: { name: 'ChildUndone' } },
    });
  });

  test('is undone when a later step fails, though it was completed', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [
          put('before'),
          agentStep('work', { steps: [put('one'), put('two')] }),
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(saga.provider.log.filter(({ what }) => what === 'undo').map(({ resource }) => resource)).toEqual([
      'two',
      'one',
      'before',
    ]);
    expect(saga.headOf(WORK).state.status).toBe('COMPENSATED');
  });

  test('closed twice it is one; with another result it is RequestConflict', async () => {
    const { saga, close } = await waiting(parsedAgentStep(), {}, used);
    await close({ outcome: 'complete', result: { made: 'x' } });
    await close({ outcome: 'complete', result: { made: 'x' } });
    await close({ outcome: 'complete' });
    const other = close({ outcome: 'complete', result: { made: 'y' } });
    await expect(other).rejects.toMatchObject({ name: 'RequestConflict' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    // It is sealed now, which is one more entry.
    await close({ outcome: 'complete', result: { made: 'x' } });
    await expect(close({ outcome: 'complete', result: {} })).rejects.toMatchObject({
      name: 'RequestConflict',
    });
    await expect(close({ outcome: 'unwind' })).rejects.toMatchObject({ name: 'SagaClosed' });
  });

  test.each<[string, { outcome: 'complete' | 'unwind'; result: JsonObject }, RegExp]>([
    ['of a saga that is taken back', { outcome: 'unwind', result: {} }, /^result: a saga that is taken back/],
    ['of 33 KB', { outcome: 'complete', result: { text: 'x'.repeat(33_000) } }, /^result: takes more than/],
  ])('a result %s is refused, and nothing is written', async (_, request, message) => {
    const { saga, close } = await waiting(parsedAgentStep());
    const { seq } = saga.headOf(WORK);
    await expect(close(request)).rejects.toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(message),
    });
    expect(saga.headOf(WORK).seq).toBe(seq);
  });

  test('that nobody goes on with is taken back after its idle time', async () => {
    const { saga, submit } = await waiting(parsedAgentStep());
    await submit('one');
    await saga.clock.advance(HOUR_MS + 1000);
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(saga.headOf(WORK).state.failure?.error.name).toBe('IdleTimeout');
    await expect(submit('two')).rejects.toMatchObject({ name: 'SagaClosed' });
  });

  test('asks people when it is told to, and goes on with the next step', async () => {
    let asked = false;
    const { saga, submit, close } = await waiting(parsedAgentStep({ onIdle: 'ask' }), {
      onQuiet: async () => {
        if (saga.headOf(WORK).state.status !== 'AWAITING') return false;
        asked = true;
        await submit('late');
        await close({ outcome: 'complete' });
        return true;
      },
    });
    await saga.clock.advance(HOUR_MS + 1000);
    await saga.machine.settle();
    expect(asked).toBe(true);
    expect(saga.machine.alerts).toHaveLength(1);
    expect(expectSettledTree(saga)).toBe('COMPLETED');
  });

  test('that takes longer than the time of the step is cancelled', async () => {
    const { saga, submit } = await waiting(parsedAgentStep({}, { timeoutSeconds: 600 }));
    await submit('one');
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(saga.headOf(ROOT).state.failure?.error.name).toBe('ChildrenOverdue');
    expect(standing(saga)).toEqual([]);
  });

  test.each(['waits for a step', 'is parked'] as const)('is unwound while it %s', async (when) => {
    const { saga, submit } = await waiting(parsedAgentStep());
    await submit('one');
    if (when === 'is parked') await saga.machine.park({ sagaId: WORK, summary: 'later', sessionId: 'a' });
    await saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
    await expect(submit('two')).rejects.toMatchObject({ name: 'SagaClosed' });
  });

  test('that is parked goes on, and is parked with its session', async () => {
    const { saga, submit, close } = await waiting(parsedAgentStep());
    await saga.machine.submit({ sagaId: WORK, stepId: 'one', ...putOf('one'), sessionId: 'ada' });
    const { sagas } = await saga.machine.park({ sessionId: 'ada', summary: 'tomorrow', checkpoint: false });
    expect(sagas).toEqual([{ sagaId: WORK, status: 'PARKED' }]);
    await expect(submit('two')).rejects.toMatchObject({ name: 'SagaParked' });
    await saga.machine.submit({ sagaId: WORK, stepId: 'two', ...putOf('two'), sessionId: 'bob' });
    await close({ outcome: 'complete' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
  });

  test('is unwound in the middle of a step: that is called once, settled, and taken back', async () => {
    let calls = 0;
    const { saga, submit } = await waiting(parsedAgentStep(), {
      onInvoke: async ({ step: at, operation }) => {
        if (at !== 'one' || operation !== 'execute') return;
        calls += 1;
        if (calls > 1) return;
        await saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' });
        // The parent tells its child while the call is under way.
        await saga.machine.begin(ROOT, 1);
        await saga.machine.begin(ROOT, 1);
        expect(saga.headOf(WORK).state).toMatchObject({ cancelRequested: true, inline: true });
        expect(await saga.machine.engine.look(WORK, saga.headOf(WORK).state.generation)).toBe('missing');
      },
    });
    await submit('one');
    await saga.machine.settle();
    expect(calls).toBe(1);
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(saga.provider.log.map(({ what, resource }) => `${what} ${resource}`)).toEqual([
      'put before',
      'put one',
      'undo one',
      'undo before',
    ]);
  });

  test('is done again, by an agent of the next epoch, when the plan is rewound to before it', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [put('before'), agentStep('work', { steps: [put('one')], gives: { made: 'k' } }), used],
      },
    });
    expect(status).toBe('COMPLETED');
    await saga.machine.rewind({ sagaId: ROOT, to: { stepId: 'before' }, requestId: 'r', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(saga.headOf(WORK).state.status).toBe('COMPENSATED');
    expect(saga.headOf(`${WORK}.E1`).state.status).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['before', 'k', 'one']);
    const alone = saga.machine.rewind({ sagaId: `${WORK}.E1`, to: { steps: 1 }, requestId: 'c', by: 'op' });
    await expect(alone).rejects.toMatchObject({ name: 'OperationRefused' });
    await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
  });

  test('waits for an approval of what nothing takes back, which is told above', async () => {
    const { saga, submit, close, describeOne } = await waiting(parsedAgentStep(), {
      onAwait: async ({ sagaId, step: id }) => {
        const seen = await describeOne(ROOT);
        expect(seen.awaitingBelow).toMatchObject([{ path: 'work', sagaId: WORK, step: 'bye' }]);
        await saga.machine.answer({ sagaId, stepId: id, decision: 'approve', by: 'ada' });
        return true;
      },
    });
    expect(await submit('bye', {}, 'mail')).toMatchObject({ step: { status: 'awaiting' } });
    await saga.machine.execute(WORK, 3);
    expect(await submit('bye', {}, 'mail')).toMatchObject({ step: { status: 'committed' } });
    await close({ outcome: 'complete' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
  });
});

const putOf = (id: string) => ({ tool: 'put', arguments: put(id).arguments, waitSeconds: 20 });

describe('a step of the agent that cannot be taken back alone', () => {
  /** Its answer is lost for good, and its compensator is refused. */
  const stuck = async (...after: PlanStep[]) => {
    const { saga, ...rest } = await waiting(
      parsedAgentStep(),
      {
        around: (invoke) => async (request) => {
          const answer = await invoke(request);
          return request.step === 'one' && request.operation === 'execute'
            ? { Error: 'States.Timeout', Cause: '' }
            : answer;
        },
      },
      ...after,
    );
    await rest.submit('zero');
    await rest.submit('one', { stuck: true });
    const { generation } = saga.headOf(WORK).state;
    await saga.machine.execute(WORK, generation);
    expect(saga.headOf(WORK).state).toMatchObject({ status: 'COMPENSATION_FAILED', undoFrom: 1 });
    expect(saga.headOf(ROOT).state).toMatchObject({
      status: 'RUNNING',
      wait: { kind: 'children', ended: '-' },
    });
    return { saga, ...rest };
  };

  test('is told above, and the plan waits until an operator has worked it', async () => {
    const { saga, close, submit, describeOne } = await stuck();
    expect((await describeOne(ROOT)).notCompensated).toMatchObject([{ path: 'work', step: 'one' }]);
    await expect(submit('two')).rejects.toMatchObject({ name: 'SagaUnwinding' });
    saga.provider.freeAll();
    await saga.machine.operate({ sagaId: WORK, action: 'retry', by: 'op' });
    await saga.machine.execute(WORK, saga.headOf(WORK).state.generation);
    await submit('two');
    await close({ outcome: 'complete' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['before', 'two', 'zero']);
  });

  test('is residue of the plan when that is cancelled, and a repair takes it away', async () => {
    const { saga } = await stuck();
    await saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATION_FAILED');
    expect(standing(saga)).toEqual(['one']);
    saga.provider.freeAll();
    await saga.machine.operate({ sagaId: WORK, action: 'retry', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
  });
});

describe('what is stored of it', () => {
  test('a policy that is not the one of the plan is seen by the ledgers', async () => {
    const { saga } = await waiting(parsedAgentStep());
    const first = saga.memory.ledger.get(WORK)?.[0];
    if (first?.direction !== 'saga' || first.status !== 'started') throw new Error('it has begun');
    expect(checkedEntry(first)).toEqual(first);
    expect(verifyFamily(saga.memory.ledger)).toEqual([]);
    const { interactive: policy } = first;
    if (policy === undefined) throw new Error('it is interactive');
    const edited = { ...first, interactive: { ...policy, allowIrreversible: ['mail'] } };
    const ledgers = new Map([...saga.memory.ledger, [WORK, [edited]]]);
    expect(verifyFamily(ledgers)).toMatchObject([
      { sagaId: WORK, message: expect.stringContaining('interactive') },
    ]);
  });
});
