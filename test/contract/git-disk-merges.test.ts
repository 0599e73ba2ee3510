/**
 * The disk is full, broken or read-only, the program is killed, or the power is lost, at any call of the system by which a merge is
 * composed: nothing of the user's changed, a merge that was answered can be restored, and one that was not is composed by the same
 * call again. Many of these calls in `npm run test:long`, with each seed others; a few here.
 */
import { expect } from 'vitest';
import { isWalkbackError } from '../../core/shared/errors.ts';
import {
  chosenDiskFaults,
  createVerdict,
  doneIn,
  TROUBLES,
  type TroubleName,
} from '../support/disk-faults.ts';
import { state } from '../support/git-cases.ts';
import { createHarness, type HarnessOptions } from '../support/git-harness.ts';
import { runSync } from '../support/run-sync.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-disk-merges');

const SEED = printedSeed('git-disk-merges');
const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };

/** Two repositories that both sides changed, one that the other side made, and files that came and went. */
const twoSides = async (options: HarnessOptions) => {
  const harness = await createHarness(options);
  harness.sh(
    'for r in app lib; do (git init -q -b main $r; cd $r; seq 40 > lines; echo 1 > f; git add -A; git commit -qm one; mkdir hollow); done',
  );
  const base = await harness.capture();
  harness.sh(
    'cd app; sed -i 1s/.*/theirs/ lines; git commit -qam two; chmod 640 f; cd ../lib; rmdir hollow; echo t > t; git init -q ../born; echo b > ../born/b',
  );
  const theirs = await harness.capture();
  expect((await harness.rollback(base)).report.outcome).toBe('applied');
  harness.sh('sed -i 40s/.*/ours/ app/lines; echo o > lib/o');
  await harness.capture();
  const { root } = harness;
  runSync('cp', ['-a', root, `${root}.saved`], PLACE);
  return {
    harness,
    /** Makes everything what it was before anything was composed. */
    reset: async () => {
      runSync('/bin/sh', ['-c', 'rm -rf "$1" && cp -a "$1.saved" "$1"', 'sh', root], PLACE);
      await harness.capture();
    },
    compose: () => harness.compose([{ base, theirs }]),
  };
};

type Composed = Awaited<ReturnType<Awaited<ReturnType<typeof twoSides>>['compose']>>;

const statesOf = ({ merged }: Composed) =>
  merged.repositories.map(({ path, tree, meta }) => [path, tree, meta]);

const failuresOf = ({ report }: Composed): string[] => [
  ...report.failures.map(({ reason }) => reason),
  ...report.missing.map((path) => `objects of ${path} are missing`),
];

test.for(sampled(Object.keys(TROUBLES) as TroubleName[], { every: 6, offset: SEED }))(
  'a merge: %s',
  { timeout: 1_200_000 },
  async (trouble, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    const { harness, reset, compose } = await twoSides({ prefix: traced.prefix });
    await using _ = harness;
    await reset();
    const looks = state(harness);
    let whole: Composed | undefined;
    const { told: undisturbed } = await traced.during(harness.root, undefined, async () => {
      whole = await compose();
    });
    if (whole === undefined) throw new Error('nothing was composed');
    const expected = statesOf(whole);
    expect(whole.report.conflicts).toEqual([]);
    const verdict = createVerdict();
    let met = 0;
    for (const { name, planned } of chosenDiskFaults(trouble, undisturbed, {
      every: 13,
      whole: 3,
      seed: SEED,
    })) {
      await reset();
      const { answer, told } = await traced.during(harness.root, planned, () =>
        compose().catch((error: unknown) => {
          if (error instanceof Error) return error;
          throw error;
        }),
      );
      const done = doneIn(told);
      if (done !== '') met += 1;
      await verdict.check(`${name} (${done})`, async () => {
        expect(state(harness)).toEqual(looks);
        const told = answer instanceof Error ? [answer.message] : failuresOf(answer);
        if (answer instanceof Error && !isWalkbackError(answer)) throw answer;
        for (const one of told) expect(one).toMatch(/\w/);
        // What was answered without a failure is whole.
        const again = answer instanceof Error || told.length > 0 ? await compose() : answer;
        expect([failuresOf(again), statesOf(again)]).toEqual([[], expected]);
        const { report } = await harness.rollback(again.merged);
        expect([report.outcome, report.problems]).toEqual(['applied', []]);
        expect(harness.sh('sed -n "1p;40p" app/lines; cat lib/o lib/t born/b; stat -c %a app/f')).toBe(
          'theirs\nours\no\nt\nb\n640\n',
        );
      });
    }
    process.stdout.write(`git-disk-merges: ${met} times ${trouble}\n`);
    expect(verdict.bad).toEqual([]);
    if (WHOLE) expect(met).toBeGreaterThan(0);
  },
);
