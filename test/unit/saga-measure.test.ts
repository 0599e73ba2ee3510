/** What the alarms about sagas look at. */
import { expect, test } from 'vitest';
import { createMeasureSagas } from '../../core/saga/run/measure.ts';
import { committed, rejected, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const HOUR_SECONDS = 3600;

test('a saga that pauses again and again grows old all the same', async () => {
  const ages: number[] = [];
  const retry = {
    maxAttempts: 6,
    backoffSeconds: HOUR_SECONDS,
    backoffRate: 1,
    maxBackoffSeconds: HOUR_SECONDS,
  };
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable', { retry })],
    answer: async (request, clock) => {
      const measure = createMeasureSagas({ store: saga.store, clock });
      ages.push((await measure()).OldestUnfinishedSeconds / HOUR_SECONDS);
      return request.attempt < 6 ? rejected(true) : committed();
    },
  });
  await saga.run();
  for (let hour = 0; hour < 6; hour += 1) {
    await saga.clock.advance(HOUR_SECONDS * 1000);
    await saga.machine.settle();
  }
  expect(ages.map(Math.floor)).toEqual([0, 1, 2, 3, 4, 5]);
  expect((await saga.seen()).state.status).toBe('COMPLETED');
});
