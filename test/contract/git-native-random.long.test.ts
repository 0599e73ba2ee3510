/**
 * The native program sees what the scripts capture in random sessions: rules that come and go, repositories in each other's
 * places, work of agents with git, ways back. Each session changes its state many times, and the stat table is kept.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { besideCaptures, nativeProgram } from '../support/git-native.ts';
import { allGoBack, turns } from '../support/git-work.ts';
import { placesTurns } from '../support/places-turns.ts';
import { placesAreKept } from '../support/places-work.ts';
import { nothingUnseenIsLost, rulesTurns } from '../support/rules-work.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 6);
const LIMITS = { minLength: 12, maxLength: 24 };

describe('the native look at random sessions', () => {
  const seed = chosenSeed();
  beforeAll(() => {
    besideCaptures.native ??= { program: nativeProgram(), states: 0 };
  });
  afterAll(() => {
    process.stdout.write(
      `git-native-random: SEED=${seed} RUNS=${RUNS}: ${besideCaptures.native?.states} states compared\n`,
    );
    delete besideCaptures.native;
  });

  const cases: [string, fc.IAsyncProperty<unknown>][] = [
    [
      'rules for ignored files',
      fc.asyncProperty(rulesTurns(LIMITS), async (all) => void (await nothingUnseenIsLost(all))),
    ],
    [
      'repositories in each other’s places',
      fc.asyncProperty(placesTurns(LIMITS), async (all) => void (await placesAreKept('whole', all))),
    ],
    ['work with git', fc.asyncProperty(turns(LIMITS), async (all) => void (await allGoBack(all)))],
  ];
  test.for(cases)('%s', async ([, property]) => {
    const before = besideCaptures.native?.states ?? 0;
    await fc.assert(property, { seed, numRuns: RUNS, endOnFailure: true });
    expect(besideCaptures.native?.states).toBeGreaterThan(before + 10 * RUNS);
  });
});
