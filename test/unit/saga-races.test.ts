/** Writers of one head at the same time: who loses waits a little, longer each time, and not as long as the others. */
import { expect, test } from 'vitest';
import { createAnnounceAwait, createAnswer } from '../../core/saga/people/answer.ts';
import { move } from '../../core/saga/run/move.ts';
import { errorOf } from '../support/error-of.ts';
import { lockFleet } from '../support/lock-fleet.ts';
import { committed, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

/** Loses so many races before it writes; the pauses in between. */
const losing = async (times: number) => {
  const saga = await scriptedSaga({ tools: [scriptedTool('a', 'compensatable')], answer: () => committed() });
  await saga.begin();
  const pauses: number[] = [];
  let lost = 0;
  const moving = move(
    {
      clock: { now: saga.clock.now, sleep: async (ms) => void pauses.push(ms) },
      store: {
        ...saga.store,
        append: async (...given) => ((lost += 1) <= times ? { written: false } : saga.store.append(...given)),
      },
    },
    SAGA,
    { type: 'cancel' },
    'ada',
  );
  return { moving, pauses, saga };
};

test('the loser decides again after a pause that grows and is drawn', async () => {
  const { moving, pauses, saga } = await losing(6);
  expect((await moving).entries.length).toBeGreaterThan(0);
  expect(pauses).toHaveLength(6);
  for (const [n, pause] of pauses.entries()) {
    const longest = Math.min(1_500, 40 * 2 ** n);
    expect(pause).toBeGreaterThanOrEqual(longest / 2);
    expect(pause).toBeLessThanOrEqual(longest);
  }
  const again = await losing(6);
  await again.moving;
  expect(again.pauses).not.toEqual(pauses);
  expect((await saga.seen()).isSound).toBe(true);
});

test('one that never wins is told to call again, and has written nothing', async () => {
  const { moving, saga } = await losing(Number.POSITIVE_INFINITY);
  await expect(moving).rejects.toMatchObject({ name: 'Throttled', retryable: true });
  expect((await saga.seen()).story).toEqual(['saga started']);
});

test('of an approval that is being written and one that comes too late, both are told what was recorded first', async () => {
  for (const decided of ['approved', 'expired'] as const) {
    let late: (() => Promise<void>) | undefined;
    const told: string[] = [];
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable')],
      steps: [{ id: 'pay', tool: 'pay', arguments: {}, approval: { timeoutSeconds: 60 } }],
      answer: () => committed(),
      storing: (store) => ({
        ...store,
        append: async (...given) => {
          const comesLate = late;
          late = undefined;
          // It has read that the saga waits. The write of the other is there before its own, or after.
          if (decided === 'expired') await comesLate?.();
          const written = await store.append(...given);
          if (decided === 'approved') await comesLate?.();
          return written;
        },
      }),
      onAwait: async () => {
        const approve = async (by: string) => {
          const answer = { sagaId: SAGA, stepId: 'pay', decision: 'approve' as const, by };
          const answered = saga.machine.answer(answer).then(
            ({ answered: first }) => `${first?.decision} by ${first?.by}`,
            ({ name }: Error) => name,
          );
          told.push(`${by}: ${await answered}`);
        };
        late = async () => {
          await saga.clock.advance(60_000);
          await approve('grace');
        };
        await approve('ada');
        return true;
      },
    });
    await saga.run();
    const { state, story } = await saga.sound();
    const isApproved = decided === 'approved';
    const first = isApproved ? 'approve by ada' : 'ApprovalExpired';
    expect(told).toEqual([`grace: ${first}`, `ada: ${first}`]);
    expect(story).toContain(`approval ${decided}`);
    expect(state.status).toBe(isApproved ? 'COMPLETED' : 'COMPENSATED');
  }
});

test('an answer that finds the saga at a later question, which nobody answered in time, is told of its own', async () => {
  const { run, settle, answer, stateOf, store, engine, clock } = await lockFleet();
  const asks = (key: string) => ({ key, approval: true as const });
  await run('one', [asks('a'), asks('b')]);
  let isFirst = true;
  // It has read that the saga asks about s0. Meanwhile ada approves that, and the time of the next question passes.
  const late = createAnswer({
    engine,
    clock,
    store: {
      ...store,
      getHead: async (sagaId) => {
        const head = await store.getHead(sagaId);
        if (!isFirst) return head;
        isFirst = false;
        await answer({ sagaId: 'one', stepId: 's0', decision: 'approve', by: 'ada' });
        await settle(20_000);
        await clock.advance(3_600_000);
        return head;
      },
    },
  });
  expect((await stateOf('one')).wait).toMatchObject({ kind: 'approval', step: 0 });
  const told = await late({ sagaId: 'one', stepId: 's0', decision: 'approve', by: 'grace' });
  expect(told.answered).toMatchObject({ decision: 'approve', by: 'ada' });
  await expect(
    answer({ sagaId: 'one', stepId: 's1', decision: 'approve', by: 'grace' }),
  ).rejects.toMatchObject(errorOf('ApprovalExpired', 's1'));
});

test('an attempt to announce a wait that comes late leaves the token of the attempt after it, and the answer wakes that', async () => {
  const woken: string[] = [];
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    steps: [{ id: 'pay', tool: 'pay', arguments: {}, approval: { timeoutSeconds: 60 } }],
    answer: () => committed(),
    onAwait: async ({ generation, stepIndex }) => {
      const { store, clock } = saga;
      const engine = {
        ...saga.machine.engine,
        wake: async (token: string) => {
          woken.push(token);
          return true;
        },
      };
      const announce = createAnnounceAwait({ store, engine });
      const wait = { sagaId: SAGA, generation, step: stepIndex };
      // The state is entered again after a wait that ran out, and its first attempt to announce itself fails.
      const before = { ...wait, entered: clock.now().toISOString() };
      await clock.advance(1_000);
      const entered = clock.now().toISOString();
      await announce({ ...wait, entered, retry: 1, token: 'second' });
      await announce({ ...wait, entered, retry: 0, token: 'first' });
      await announce({ ...before, retry: 4, token: 'of the wait before' });
      await createAnswer({ store, engine, clock })({
        sagaId: SAGA,
        stepId: 'pay',
        decision: 'approve',
        by: 'ada',
      });
      return true;
    },
  });
  await saga.run();
  expect(woken).toEqual(['second']);
  expect((await saga.seen()).state.status).toBe('COMPLETED');
});
