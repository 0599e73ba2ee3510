/** Every kind of death of a restore, settled: the whole of what git-settle.test.ts takes a sample of. */
import { expect, test } from 'vitest';
import { chosenSeed } from '../support/sampling.ts';
import { REFS, RULES, settleKilled } from '../support/settle-killed.ts';
import './git-settle.test.ts';

test('killed at any call of git, with work done since: settled at one end, and the work stays', async () => {
  const { deaths, ends } = await settleKilled(3, chosenSeed() % 3);
  expect(deaths).toBeGreaterThan(20);
  expect(ends).toEqual(new Set(['none', 'undo', 'target']));
}, 1_200_000);

test('killed at any call of git among branches and operations: settled at one end, and the work stays', async () => {
  const { deaths } = await settleKilled(3, chosenSeed() % 3, REFS);
  expect(deaths).toBeGreaterThan(12);
}, 1_200_000);

test('killed at any call of git among rules of partial checkouts: settled at one end, and the work stays', async () => {
  const { deaths } = await settleKilled(9, chosenSeed() % 9, RULES);
  expect(deaths).toBeGreaterThan(7);
}, 1_200_000);
