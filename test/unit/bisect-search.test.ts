/** The binary search against a linear one, over random lines of good, bad and skipped points. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextStep, type Step, type Verdict } from '../../core/checkpoint/bisect/search.ts';
import { printedSeed } from '../support/sampling.ts';

const SEED = printedSeed('bisect');
const check = (property: fc.IProperty<[Verdict[], number]>) =>
  fc.assert(property, { seed: SEED, numRuns: 2_000 });

interface Run {
  step: Exclude<Step, { kind: 'probe' }>;
  rounds: number;
  known: (Verdict | undefined)[];
}

/** Plays a search: what it asks for is looked up in `truth`. */
const play = (truth: readonly Verdict[], atOnce: number): Run => {
  const known: (Verdict | undefined)[] = truth.map(() => undefined);
  for (let rounds = 0; ; rounds++) {
    const step = nextStep(known, atOnce);
    if (step.kind !== 'probe') return { step, rounds, known };
    expect(step.points.length).toBeGreaterThan(0);
    expect(step.points.length).toBeLessThanOrEqual(atOnce);
    expect(new Set(step.points).size).toBe(step.points.length);
    for (const at of step.points) {
      expect(known[at], `point ${at} is probed twice`).toBeUndefined();
      known[at] = truth[at];
    }
  }
};

/** What somebody finds who tries each point from the first to the last. */
const linear = (truth: readonly Verdict[]): { good: number; bad: number } => {
  const bad = truth.indexOf('bad');
  return { good: truth.slice(0, bad).lastIndexOf('good'), bad };
};

const skips = fc.array(fc.boolean(), { minLength: 0, maxLength: 60 });
const atOnce = fc.integer({ min: 1, max: 5 });

/** Good, then bad for good, with some points skipped; the ends are as they are said to be. */
const withOneFault: fc.Arbitrary<Verdict[]> = fc.tuple(skips, fc.nat()).map(([inside, from]) => {
  const broken = 1 + (from % (inside.length + 1));
  return [false, ...inside, false].map((isSkipped, at) => {
    if (isSkipped) return 'skipped';
    return at < broken ? 'good' : 'bad';
  });
});

/** A fault that comes and goes. */
const withAnyFaults: fc.Arbitrary<Verdict[]> = fc
  .array(fc.constantFrom<Verdict>('good', 'bad', 'skipped'), { maxLength: 60 })
  .map((inside) => ['good', ...inside, 'bad']);

describe('a line that breaks once', () => {
  test('ends where a linear search ends', () => {
    check(
      fc.property(withOneFault, atOnce, (truth, most) => {
        const { step } = play(truth, most);
        const { good, bad } = linear(truth);
        expect(step).toEqual({ kind: bad === good + 1 ? 'found' : 'left', good, bad });
      }),
    );
  });

  test('needs a round for each division of what is left', () => {
    for (const most of [1, 2, 3, 5]) {
      for (let length = 2; length < 200; length += 7) {
        for (let broken = 1; broken < length; broken += 3) {
          const truth = Array.from({ length }, (_, at): Verdict => (at < broken ? 'good' : 'bad'));
          const { rounds } = play(truth, most);
          const divisions = Math.ceil(Math.log(length) / Math.log(most + 1));
          expect(rounds).toBeLessThanOrEqual(divisions + 2);
        }
      }
    }
  });
});

test('a fault that comes and goes: what is found was probed, and nothing between is told', () => {
  check(
    fc.property(withAnyFaults, atOnce, (truth, most) => {
      const { step, known } = play(truth, most);
      if (step.kind === 'wrong-end') throw new Error('the ends are right');
      expect([known[step.good], known[step.bad]]).toEqual(['good', 'bad']);
      const between = truth.slice(step.good + 1, step.bad);
      expect(between.every((verdict) => verdict === 'skipped')).toBe(true);
      expect(step.kind).toBe(between.length === 0 ? 'found' : 'left');
    }),
  );
});

test('what is known already is not probed, whatever it is', () => {
  fc.assert(
    fc.property(withAnyFaults, atOnce, fc.array(fc.boolean(), { maxLength: 62 }), (truth, most, told) => {
      const known = truth.map((verdict, at) => (told[at] === true ? verdict : undefined));
      const step = nextStep(known, most);
      if (step.kind === 'probe') expect(step.points.filter((at) => known[at] !== undefined)).toEqual([]);
    }),
    { seed: SEED },
  );
});

test.each<[Verdict, Verdict, Step]>([
  ['bad', 'bad', { kind: 'wrong-end', at: 0, verdict: 'bad' }],
  ['skipped', 'bad', { kind: 'wrong-end', at: 0, verdict: 'skipped' }],
  ['good', 'good', { kind: 'wrong-end', at: 2, verdict: 'good' }],
  ['good', 'skipped', { kind: 'wrong-end', at: 2, verdict: 'skipped' }],
  ['good', 'bad', { kind: 'probe', good: 0, bad: 2, points: [1] }],
])('ends that are %s and %s', (first, last, step) => {
  expect(nextStep([first, undefined, last], 3)).toEqual(step);
});

test('the ends come first', () => {
  const nothing = Array.from({ length: 9 }, () => undefined);
  expect(nextStep(nothing, 1)).toMatchObject({ points: [0] });
  expect(nextStep(nothing, 2)).toMatchObject({ points: [0, 8] });
  expect(nextStep(nothing, 3)).toMatchObject({ points: [0, 8, 4] });
  // One of them is bad enough to say so.
  expect(nextStep(['bad', ...nothing], 3)).toMatchObject({ kind: 'wrong-end', at: 0 });
});
