/**
 * The disk is full, broken or read-only, or the program is killed, at any call of the system that a capture makes: the
 * working files stay, what is not captured is told, and the next call arrives. So it does where the power is lost. Many of
 * these calls in `npm run test:long`, with each seed others; a few here.
 */
import { expect } from 'vitest';
import { captureDiskFaults } from '../support/disk-captures.ts';
import { TROUBLES, type TroubleName } from '../support/disk-faults.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-disk-captures');

const SEED = printedSeed('git-disk-captures');

test.for(sampled(Object.keys(TROUBLES) as TroubleName[], { every: 13, offset: SEED }))(
  'captures: %s',
  { timeout: 1_200_000 },
  async (trouble, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    const { met, bad } = await captureDiskFaults(trouble, { every: 61, whole: 23, seed: SEED });
    process.stdout.write(`git-disk-captures: ${met} times ${trouble}\n`);
    expect(bad).toEqual([]);
    if (WHOLE) expect(met).toBeGreaterThan(0);
  },
);
