/**
 * A search dies or fails at each of its calls, before and after it had its effect. No copy is left by a call that ends. One that
 * dies leaves copies that end by themselves, and the same request kills them, goes on and finds the same.
 */
import { expect, test } from 'vitest';
import { createBisectStage, LIMIT_MS } from '../support/fakes/bisect-stage.ts';
import { createCounter, FAULTS } from '../support/fakes/faults.ts';
import { SANDBOX } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

/** Every eleventh call, others each time; all of them in a whole run. */
const STEP = WHOLE ? 1 : 11;
const FIRST = 1 + (printedSeed('faults of searches') % STEP);

const open = async () => {
  const all = await createBisectStage((files) =>
    files['api']?.['a.txt']?.includes('broken') === true ? 1 : 0,
  );
  for (let n = 1; n <= 12; n++) await all.work(`m${n}`, 'api/a.txt', n < 8 ? `fine ${n}` : `broken ${n}`);
  return all;
};

test('whatever fails, no copy is left, and the same request finds the same', async () => {
  const plain = await open();
  const answer = await plain.bisect();
  expect(answer.suspects).toMatchObject([{ messageId: 'm8' }]);
  let total = 0;
  let orphans = 0;
  for (const fault of FAULTS) {
    for (let at = FIRST; ; at += STEP) {
      const { bisect, copies, lives, stage, ran } = await open();
      const files = stage.world.filesOf(SANDBOX);
      const counter = createCounter({ ...fault, at });
      const ended = await bisect({}, { counter }).then(
        () => 'answered',
        (error: unknown) => (error as Error).name,
      );
      if (!counter.fired) break;
      total += 1;
      const name = `${fault.kind} ${fault.when} call ${at}, ${counter.calls[at - 1]}: ${ended}`;
      if (fault.kind === 'error') {
        expect(ended, name).toMatch(/^(StorageUnavailable|answered)$/);
        expect(copies(), name).toEqual([]);
      } else expect(ended, name).toMatch(/^(Death|answered)$/);
      orphans += copies().length;
      expect(Math.max(0, ...lives), name).toBeLessThanOrEqual(LIMIT_MS + 30_000);
      // What the dead call left undone may still be held by it for a moment.
      stage.passMs(60_000);
      const before = ran.length;
      const again = await bisect();
      expect(copies(), name).toEqual([]);
      expect({ ...again, tried: [] }, name).toEqual({ ...answer, tried: [] });
      expect(ran.length - before, name).toBeLessThanOrEqual(answer.tried.length);
      expect(stage.world.filesOf(SANDBOX), name).toEqual(files);
      expect(stage.session().busy, name).toBeUndefined();
    }
  }
  // A call that dies cannot kill its copies: the one after it does.
  if (WHOLE) expect(orphans).toBeGreaterThan(0);
  expect(total).toBeGreaterThanOrEqual(FAULTS.length * Math.floor(40 / STEP));
});
