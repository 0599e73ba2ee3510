/**
 * The case list of capture and restore, on real git. Every case: set up, capture, damage, roll back (C1, C2, C4), undo (C3),
 * and rebuild in an empty directory (C7). What is compared is what a person would see, not what Walkback says. A fifth of
 * them, others each time; all of them in `npm run test:long`.
 */
import { describe, expect, test } from 'vitest';
import { GIT_CASES, openCase, state } from '../support/git-cases.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

describe('capture and restore', () => {
  test.concurrent.for(sampled(GIT_CASES, { every: 13, offset: printedSeed('cases of git'), minimum: 3 }))(
    '$name',
    async ({ setup, damage, options, notRehydrated, standalone, survives }) => {
      await using harness = await openCase({ setup, options });
      const before = state(harness, survives);
      const first = await harness.capture();
      expect(first.report.failures).toEqual([]);
      expect(state(harness, survives), 'a capture changes nothing').toEqual(before);
      harness.sh(damage, 'app');
      const after = state(harness);

      const { undo, report } = await harness.rollback(first);
      expect(report.problems).toEqual([]);
      expect(report.outcome).toBe('applied');
      expect(state(harness, survives), 'rolled back').toEqual(before);

      const back = await harness.rollback(undo);
      expect(back.report.problems).toEqual([]);
      expect(state(harness), 'undone').toEqual(after);

      expect((await harness.rehydrate(first)).outcome).toBe('applied');
      const ignore = notRehydrated ?? survives;
      expect(state(harness, ignore, standalone), 'rehydrated').toEqual(
        before.filter((line) => !ignore?.test(line) && !(standalone && line.startsWith('./'))),
      );
      expect(harness.sh('ls ~ | grep OWNED || true'), 'nothing of the repository ran').toBe('');
    },
  );
});
