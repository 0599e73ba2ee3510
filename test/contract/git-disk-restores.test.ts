/**
 * The disk is full, broken or read-only, or the program is killed, at any call of the system that a restore makes: it is
 * at the target, or put back, or told, and the next call arrives. So it does where the power is lost. Many of these calls in
 * `npm run test:long`, with each seed others; a few here.
 */
import { expect } from 'vitest';
import { TROUBLES, type TroubleName } from '../support/disk-faults.ts';
import { endedWithin, restoreDiskFaults, WORKS, type WorkName } from '../support/disk-restores.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-disk-restores');

const SEED = printedSeed('git-disk-restores');

const cases = (Object.keys(WORKS) as WorkName[]).flatMap((work) =>
  (Object.keys(TROUBLES) as TroubleName[]).map((trouble) => ({ work, trouble })),
);

test.for(sampled(cases, { every: 52, offset: SEED }))(
  '$work: $trouble',
  { timeout: 1_200_000 },
  async ({ work, trouble }, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    const { met, bad } = await restoreDiskFaults(work, trouble, {
      every: 97,
      whole: 37,
      seed: SEED,
    });
    process.stdout.write(`git-disk-restores: ${met} times ${trouble} in ${work}\n`);
    expect(bad).toEqual([]);
    if (WHOLE) expect(met).toBeGreaterThan(0);
  },
);

const traced =
  (work: () => Promise<void>) =>
  async ({ skip }: { skip: (why: string) => void }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    await work();
  };

const MADE = 'a restore of one that is made from its bundles';
const BEFORE_ITS_GIT = { about: 'comes/.git', kinds: ['renames'], at: 1 } as const;
const BEFORE_ITS_STATE = {
  about: 'comes/.agent-shadow/session-s1/looked.mark',
  kinds: ['removals'],
  at: 1,
} as const;
/** Its old content was put aside, and the new one has not got its name. */
const BETWEEN_TWO_NAMES = { about: 'app/x', kinds: ['renames'], at: 2 } as const;

test.for([BEFORE_ITS_GIT, BEFORE_ITS_STATE])(
  'a repository that was half made is made whole by the same call: $about',
  (where, context) =>
    traced(async () =>
      expect(await endedWithin(MADE, where, 'the same again')).toEqual(['.agent-shadow', 'app', 'comes']),
    )(context),
);

test(
  'of a repository that was half made, nothing is left on the way back',
  traced(async () =>
    expect(await endedWithin(MADE, BEFORE_ITS_GIT, 'the way back')).toEqual(['.agent-shadow', 'app', 'gone']),
  ),
);

// It gets its branches, HEAD and index only after its name.
test(
  'a repository that was half made is at one end when it was settled',
  traced(async () => expect(await endedWithin(MADE, BEFORE_ITS_STATE, 'settled')).toEqual([])),
);

// For a moment nothing has its name.
test(
  'a file that was about to be replaced is at one end when that was settled',
  traced(async () => expect(await endedWithin('a restore', BETWEEN_TWO_NAMES, 'settled')).toEqual([])),
);
