/** Two operators at the same step, or one whose answer was lost: the same request is one, another one is told who was first. */
import { describe, expect, test } from 'vitest';
import type { Asked } from '../../contract/identity.ts';
import type { OperateSagaInput } from '../../contract/saga-inputs.ts';
import { errorOf } from '../support/error-of.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const TOOLS = ['a', 'b', 'last'].map((name) => scriptedTool(name, 'compensatable'));

const asked = (more: Partial<Asked<OperateSagaInput>>): Asked<OperateSagaInput> => ({
  sagaId: SAGA,
  action: 'retry',
  by: 'ada',
  ...more,
});

type Saga = Awaited<ReturnType<typeof scriptedSaga>>;

/** Both compensators fail until `broken.now` is false. `during` is done while one is called. */
const failed = async () => {
  const broken = { now: true };
  const during: { act: () => Promise<unknown> } = { act: async () => undefined };
  const saga: Saga = await scriptedSaga({
    tools: TOOLS,
    answer: async ({ step, operation }) => {
      if (operation === 'compensate' && !broken.now) await during.act();
      return step === 'last' || (operation === 'compensate' && broken.now) ? rejected() : committed();
    },
  });
  await saga.run();
  expect((await saga.seen()).state.status).toBe('COMPENSATION_FAILED');
  return { saga, broken, during };
};

const operate = (saga: Saga, more: Partial<Asked<OperateSagaInput>>) => saga.machine.operate(asked(more));

const countOf = async (saga: Saga): Promise<number> => (await saga.seen()).entries.length;

describe('a step that a person decided', () => {
  const WAYS = [
    ['resolve', 'resolve'],
    ['skip', 'skip'],
    ['resolve', 'skip'],
  ] as const;
  const ENDS = ['the saga is still at it', 'the saga ended'] as const;

  test.each(WAYS.flatMap((ways) => ENDS.map((end) => [...ways, end] as const)))(
    '%s, then %s with other words, when %s: is told who was first',
    async (first, second, end) => {
      const { saga, broken } = await failed();
      const request = { action: first, stepId: 'a', evidence: 'JE 7' } as const;
      await operate(saga, request);
      if (end === 'the saga ended') {
        await saga.machine.settle();
        broken.now = false;
        await operate(saga, { stepId: 'b' });
        await saga.machine.settle();
        expect((await saga.seen()).state.status).toBe('COMPENSATED');
      }
      const before = await countOf(saga);
      await expect(
        operate(saga, { action: second, stepId: 'a', evidence: 'JE 8', by: 'bob' }),
      ).rejects.toMatchObject({
        name: 'OperationConflict',
        message: expect.stringMatching(/was (resolved|skipped) by ada at \d{4}-/),
        details: { by: 'ada', evidence: 'JE 7', stepId: 'a' },
      });
      // The same again is one, also from somebody else.
      await operate(saga, request);
      await operate(saga, { ...request, by: 'bob' });
      expect(await countOf(saga)).toBe(before);
    },
  );

  test('and what an undo let stand is not skipped again: its reason would be kept nowhere', async () => {
    const saga = await scriptedSaga({
      tools: [...TOOLS, scriptedTool('mail', 'irreversible')],
      steps: ['a', 'mail'].map((tool) => ({ id: tool, tool, arguments: {} })),
      answer: () => committed(),
    });
    await saga.run();
    await operate(saga, { action: 'undo', acceptResidue: true, evidence: 'it may stay' });
    await saga.machine.settle();
    await expect(
      operate(saga, { action: 'skip', stepId: 'mail', evidence: 'it may stay' }),
    ).rejects.toMatchObject(errorOf('OperationRefused', 'was let stand'));
  });
});

describe('a retry that nobody asked for before', () => {
  const through = async () => {
    const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed() });
    await saga.run();
    return saga;
  };
  const expectRefused = async (saga: Saga, more: Partial<Asked<OperateSagaInput>>, message: string) => {
    const before = await countOf(saga);
    await expect(operate(saga, more)).rejects.toMatchObject(errorOf('OperationRefused', message));
    expect(await countOf(saga)).toBe(before);
  };

  test('is refused for a step that was taken back without it', async () => {
    const saga = await through();
    await operate(saga, { action: 'undo' });
    await saga.machine.settle();
    await expectRefused(saga, { stepId: 'a' }, 'Step a of saga scripted is taken back already');
  });

  test('is refused for a step that was rewound and stands again', async () => {
    const saga = await through();
    await saga.machine.rewind({ sagaId: SAGA, requestId: 'back', to: { stepId: 'a' }, by: 'ada' });
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPLETED');
    await expectRefused(saga, { stepId: 'b' }, 'is COMPLETED; only a failed or delayed compensation');
  });
});

describe('a retry that is asked again', () => {
  test.each([{}, { stepId: 'b' }])(
    'while it is under way, and when it is through, is one: %o',
    async (more) => {
      const { saga, broken, during } = await failed();
      broken.now = false;
      await operate(saga, more);
      const before = await countOf(saga);
      await operate(saga, more);
      expect(await countOf(saga), 'before its call').toBe(before);
      let calls = 0;
      during.act = async () => {
        calls += 1;
        const called = await countOf(saga);
        await operate(saga, more);
        expect(await countOf(saga), 'during its call').toBe(called);
      };
      await saga.machine.settle();
      expect(calls).toBeGreaterThan(0);
      const { status } = (await saga.seen()).state;
      // Of one step alone, the other one is left.
      expect(status).toBe('stepId' in more ? 'COMPENSATION_FAILED' : 'COMPENSATED');
      const after = await countOf(saga);
      await operate(saga, more);
      expect(await countOf(saga)).toBe(after);
    },
  );
});
