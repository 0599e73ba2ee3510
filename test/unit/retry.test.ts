import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pauseMs, type RetryPolicy, retrying, retryingErrors } from '../../core/shared/retry.ts';

const policy: RetryPolicy = { attempts: 4, firstMs: 10, mostMs: 30 };

const means = (random: () => number = () => 1) => {
  const slept: number[] = [];
  return { slept, sleep: async (ms: number) => void slept.push(ms), random };
};

describe('trying again', () => {
  test('waits longer each time, at most so long, and never twice as long as the shortest', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const longest = pauseMs(policy, attempt, () => 1);
        const pause = pauseMs(policy, attempt, () => random);
        expect(longest).toBe(Math.min(30, 10 * 2 ** attempt));
        expect(pause).toBeGreaterThanOrEqual(longest / 2);
        expect(pause).toBeLessThanOrEqual(longest);
      }),
    );
  });

  test('ends with the first answer, and does not wait after the last try', async () => {
    const won = means();
    expect(await retrying(policy, won, async (count) => (count === 2 ? 'won' : undefined))).toBe('won');
    expect(won.slept).toEqual([10, 20]);
    const lost = means();
    expect(await retrying(policy, lost, async () => undefined)).toBeUndefined();
    expect(lost.slept).toEqual([10, 20, 30]);
  });

  test('throws what ends it at once, and the last of what passes', async () => {
    const passing = means();
    let calls = 0;
    const work = async () => {
      calls++;
      throw new Error(`failure ${calls}`);
    };
    await expect(retryingErrors(policy, passing, () => true, work)).rejects.toThrow('failure 4');
    expect(passing.slept).toEqual([10, 20, 30]);
    await expect(retryingErrors(policy, passing, () => false, work)).rejects.toThrow('failure 5');
    let count = 0;
    const works = async () => (++count < 3 ? Promise.reject(new Error('passes')) : count);
    expect(await retryingErrors(policy, passing, () => true, works)).toBe(3);
  });
});
