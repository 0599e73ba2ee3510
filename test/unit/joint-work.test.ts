/** A few worlds of joint-work.long.test.ts, others each time. */
import { expect, test } from 'vitest';
import { playJointWorlds } from '../support/joint/runs.ts';
import { printedSeed } from '../support/sampling.ts';

const WORLDS = 5;

test('whatever dies or comes between, nothing is lost, and each merge is there once or not at all', async () => {
  const tally = await playJointWorlds(WORLDS, printedSeed('joint-work'));
  expect(tally.of('pay COMPLETED') + tally.of('pay COMPENSATED')).toBeGreaterThan(0);
});
