/** Random work of an agent, and ways to other states of it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allGoBack, turns } from '../support/git-work.ts';
import { placesTurns } from '../support/places-turns.ts';
import { placesAreKept } from '../support/places-work.ts';
import { meanOfRuns } from '../support/random-runs.ts';
import { nothingUnseenIsLost, rulesTurns } from '../support/rules-work.ts';

test('work with git: every checkpoint goes back exactly, from wherever the work stands', async () => {
  const all = turns({ minLength: 12, maxLength: 20 });
  expect(await meanOfRuns('git-random-work', 4, all, allGoBack)).toBeGreaterThan(8);
});

test('rules for ignored files: no way back, whole, of files only, of some paths or a revert, deletes what a checkpoint may not have seen, and each is undone exactly', async () => {
  const all = rulesTurns({ minLength: 12, maxLength: 24 });
  expect(await meanOfRuns('git-random-rules', 6, all, nothingUnseenIsLost)).toBeGreaterThan(2);
});

test('repositories, links, worktrees and modes in each other’s places: no way to another state touches what no checkpoint holds, and each is undone exactly', async () => {
  const all = fc.tuple(
    fc.constantFrom('whole' as const, 'partial' as const),
    placesTurns({ minLength: 10, maxLength: 20 }),
  );
  const play = (one: Parameters<typeof placesAreKept>) => placesAreKept(...one);
  expect(await meanOfRuns('git-random-places', 6, all, play)).toBeGreaterThan(1);
});

test('the same in a directory without git, in which repositories are made', async () => {
  const all = fc.tuple(fc.constant('loose' as const), placesTurns({ minLength: 10, maxLength: 20 }));
  const play = (one: Parameters<typeof placesAreKept>) => placesAreKept(...one);
  expect(await meanOfRuns('git-random-loose', 6, all, play)).toBeGreaterThan(1);
});
