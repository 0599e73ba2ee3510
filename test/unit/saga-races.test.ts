/** Writers of one head at the same time: who loses waits a little, longer each time, and not as long as the others. */
import { expect, test } from 'vitest';
import { move } from '../../core/saga/run/move.ts';
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
