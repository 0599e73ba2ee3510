/** What a long capture tells: seldom, one write at a time, and never so that the capture suffers. */
import { expect, test } from 'vitest';
import { createTellProgress } from '../../core/checkpoint/capture/tell-progress.ts';
import type { WorkProgress } from '../../core/checkpoint/model.ts';
import { createProgress } from '../../core/checkpoint/session/progress.ts';
import { createFakeSearches } from '../support/fakes/fake-searches.ts';
import { createFakeStore } from '../support/fakes/fake-store.ts';

const START = Date.UTC(2026, 0, 1);

const stage = (put?: (progress: WorkProgress) => Promise<void>) => {
  let nowMs = START;
  const warnings: string[] = [];
  const written: WorkProgress[] = [];
  const store = createFakeStore();
  const clock = { now: () => new Date(nowMs), sleep: async () => undefined };
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
  const putProgress = async (progress: WorkProgress): Promise<void> => {
    written.push(progress);
    await (put === undefined ? store.putProgress(progress) : put(progress));
  };
  const { tell, told } = createTellProgress({ store: { putProgress }, clock, log })('s1');
  const at = async (ms: number, done: number): Promise<void> => {
    nowMs = START + ms;
    tell({ doing: 'files', done, of: 9_000 });
    await new Promise(setImmediate);
  };
  const ask = createProgress({ store, searches: createFakeSearches(), clock });
  const answer = (ms: number) => {
    nowMs = START + ms;
    return ask({ sessionId: 's1' });
  };
  return { at, told, written, warnings, answer };
};

test('a short capture writes nothing', async () => {
  const { at, told, written, answer } = stage();
  await at(500, 100);
  await at(1_499, 900);
  await told();
  expect(written).toEqual([]);
  expect(await answer(1_500)).toEqual({ progress: null });
});

test('a long one tells once a second at most, and people hear the newest', async () => {
  const { at, written, answer } = stage();
  for (let ms = 0; ms <= 5_000; ms += 100) await at(ms, ms);
  expect(written.map(({ done }) => done)).toEqual([1_500, 2_500, 3_500, 4_500]);
  expect(await answer(5_000)).toEqual({
    progress: {
      doing: 'files',
      done: 4_500,
      of: 9_000,
      startedAt: '2026-01-01T00:00:00.000Z',
      at: '2026-01-01T00:00:04.500Z',
    },
  });
  expect(await answer(34_500)).toMatchObject({ progress: { done: 4_500 } });
  expect(await answer(34_501)).toEqual({ progress: null });
});

test('only one write runs, and the end waits for it', async () => {
  const writing = Promise.withResolvers<void>();
  const { at, told, written } = stage(() => writing.promise);
  await at(2_000, 1);
  await at(9_000, 2);
  expect(written.map(({ done }) => done)).toEqual([1]);
  let isOver = false;
  const over = told().then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  writing.resolve();
  await over;
  await at(9_500, 3);
  expect(written.map(({ done }) => done)).toEqual([1, 3]);
});

test('a table that does not answer is no fault of the capture', async () => {
  const { at, told, warnings } = stage(() => Promise.reject(new Error('no table')));
  await at(2_000, 1);
  await told();
  expect(warnings).toEqual(['progress not kept']);
});
