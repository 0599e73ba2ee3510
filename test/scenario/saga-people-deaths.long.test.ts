/**
 * Functions that people and agents call to move a saga die before or after each request that they make. The same call again comes to the
 * same end; where nobody calls, the saga stands as before or ends as told.
 */
import { expect, test } from 'vitest';
import { dieInCalls } from '../support/people-deaths.ts';
import { startSagaCloud } from '../support/saga-cloud.ts';
import { printedSeed } from '../support/sampling.ts';

const seed = printedSeed('saga people deaths');

test('answers, operations, rewinds and parkings that die at any request', async () => {
  const sagas = await startSagaCloud();
  try {
    expect(await dieInCalls(sagas, seed)).toBeGreaterThan(100);
  } finally {
    await sagas.close();
  }
}, 1_500_000);
