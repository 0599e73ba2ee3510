/**
 * The disk is full, broken or read-only, or the program is killed, at any call of the system by which late writes are captured, or
 * by which the sandbox hears that they are stored: they are stored whole, or the call says that they are not, and the same call
 * again stores them. So it does where the power is lost. Many of these calls in `npm run test:long`, with each seed others; a
 * few here.
 */
import { expect } from 'vitest';
import {
  chosenDiskFaults,
  createVerdict,
  doneIn,
  TROUBLES,
  type TroubleName,
} from '../support/disk-faults.ts';
import { world } from '../support/git-repositories.ts';
import { lateScene } from '../support/late-scene.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-disk-late');

const SEED = printedSeed('git-disk-late');

test.for(sampled(Object.keys(TROUBLES) as TroubleName[], { every: 6, offset: SEED }))(
  'late writes: %s',
  { timeout: 1_200_000 },
  async (trouble, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    await using scene = await lateScene({ prefix: traced.prefix });
    const { harness } = scene;
    scene.reset();
    const looks = world(harness, ['app']);
    const { told: undisturbed } = await traced.during(harness.root, undefined, scene.store);
    const verdict = createVerdict();
    let met = 0;
    for (const { name, planned } of chosenDiskFaults(trouble, undisturbed, {
      every: 13,
      whole: 3,
      seed: SEED,
    })) {
      scene.reset();
      const { answer: error, told } = await traced.during(harness.root, planned, () =>
        scene.store().then(
          () => undefined,
          (thrown: unknown) => thrown,
        ),
      );
      const done = doneIn(told);
      if (done !== '') met += 1;
      await verdict.check(`${name} (${done})`, async () => {
        expect(world(harness, ['app'])).toEqual(looks);
        await scene.isWholeOrTold(error, name);
        expect(world(harness, ['app'])).toEqual(looks);
      });
    }
    process.stdout.write(`git-disk-late: ${met} times ${trouble}\n`);
    expect(verdict.bad).toEqual([]);
    if (WHOLE) expect(met).toBeGreaterThan(0);
  },
);
