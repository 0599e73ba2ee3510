/** A restore proves what came back; and what is not asked of git again is what git would have said. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { createGitStage } from '../support/git-stage.ts';
import { rewritingRestore } from '../support/hostile-output.ts';
import { afterPlacing } from '../support/placing.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-verify');

const INIT =
  'git init -q -b main . && mkdir -p src && echo one > src/a.txt && git add -A && git commit -qm one && for i in {1..120}; do echo $i > src/$i; done';

/** A restore starts git between the new files and their proof only where a branch changes. */
const ALSO = '; git branch since';

/** Two of them, others each time; all of them in `npm run test:long`. */
const SPOILED = [
  ['a file with other bytes of the same number', 'printf "two\\n" > src/a.txt', 'src/a.txt'],
  ['a file of another mode', 'chmod 600 src/a.txt'],
  ['an executable bit', 'chmod +x src/a.txt'],
  ['a link where a file was', 'ln -sf /etc/hostname src/a.txt', 'src/a.txt'],
  ['a file that is there again', 'mkdir -p gone && echo new > gone/new.txt'],
  ['a directory that stays', 'mkdir -p gone/deep', 'gone/deep'],
];

/** What may go wrong with a file where nothing but contents changes: then few files are proven without a capture. */
const OF_A_FILE = SPOILED.slice(0, 4);

const CHANGES = {
  'files change, come and go': {
    script: 'echo changed > src/a.txt; mkdir -p gone; echo new > gone/new.txt',
    spoiled: SPOILED,
  },
  'one file changes': { script: 'echo changed > src/a.txt', spoiled: OF_A_FILE },
  'many files change': { script: 'for i in src/*; do echo changed > $i; done', spoiled: OF_A_FILE },
};

const CASES = Object.entries(CHANGES).flatMap(([what, { script, spoiled }]) =>
  spoiled.map(([how, ...spoil]) => [`${how}, where ${what}`, script, ...spoil]),
);

test.each(sampled(CASES, { every: 5, offset: printedSeed('verify'), minimum: 2 }))(
  'what does not come back as it was is noticed, and everything of ours put back: %s',
  async (...[, change = '', spoil = '', foreign]: string[]) => {
    using others = afterPlacing(spoil);
    const harness = await createHarness({ env: others.env });
    try {
      await mkdir(join(harness.root, 'app'));
      harness.sh(INIT, 'app');
      const original = files(join(harness.root, 'app'));
      const before = await harness.capture();
      harness.sh(`${change}${ALSO}`, 'app');
      const looks = files(join(harness.root, 'app'));

      others.arm();
      const { report } = await harness.rollback(before);
      expect([report.outcome, others.isArmed()]).toEqual(['reverted', false]);
      // What no capture has is somebody's: it stays, and is named.
      const ours = (lines: string[]) =>
        lines.filter((line) => foreign === undefined || !line.includes(foreign));
      const now = files(join(harness.root, 'app'));
      expect(ours(now)).toEqual(ours(looks));
      if (foreign !== undefined) {
        expect(now).not.toEqual(looks);
        expect(report.problems.map(({ message }) => message).join()).toMatch(
          // An empty directory is in no list of files.
          foreign === 'gone/deep' ? 'empty directories differ: gone/deep' : `appeared meanwhile: ${foreign}`,
        );
      }

      const again = await harness.rollback(before);
      expect(again.report.outcome).toBe('applied');
      expect(files(join(harness.root, 'app'))).toEqual(original);
    } finally {
      await harness[Symbol.asyncDispose]();
    }
  },
);

test.for([
  ['mkdir -p gone/deep', 'empty directories differ: gone/deep.'],
  ['chmod 600 src/a.txt', 'modes differ: src/a.txt.'],
  ['printf "two\\n" > src/a.txt', 'not what was captured: src/a.txt.'],
])('what another process does until it is proven is told as that: %s', async ([spoil = '', what]) => {
  using others = afterPlacing(spoil);
  await using harness = await createHarness({ env: others.env });
  await mkdir(join(harness.root, 'app'));
  harness.sh(INIT, 'app');
  const before = await harness.capture();
  harness.sh(`echo changed > src/a.txt; mkdir -p gone; echo new > gone/new.txt${ALSO}`, 'app');
  others.arm();
  const { report } = await harness.rollback(before);
  expect(report.outcome).toBe('reverted');
  expect(report.problems.map(({ message }) => message)).toContain(
    `verification failed: ${what} Another process may be at work here: stop what writes into this repository`,
  );
});

/** What a sandbox may answer in the place of what it read back. */
const LIES = {
  'another tree': ['tree', 'a'.repeat(40)],
  'another host state': ['meta', 'b'.repeat(40)],
  nothing: ['tree', undefined],
} as const;

test.for(Object.entries(LIES))(
  'a restore that answers that it read %s is not taken for one that arrived',
  async ([, [key, said]]) => {
    await using stage = await createGitStage();
    const sandbox = await stage.addSandbox();
    stage.sh(sandbox, `mkdir app; cd app; ${INIT}`);
    await stage.start('s', sandbox);
    const first = await stage.checkpoint('s', 'm1');
    stage.sh(sandbox, 'echo two >src/a.txt; git add .; git commit -qm two', 'app');
    const lie = rewritingRestore((report) => ({
      ...report,
      repositories: report.repositories.map(({ verified, ...one }) => ({
        ...one,
        ...(verified && said !== undefined && { verified: { ...verified, [key]: said } }),
      })),
    }));
    stage.lies.set(sandbox, lie);
    await expect(stage.rollback('s', 'r', first.checkpointId)).rejects.toMatchObject({
      name: 'RollbackIncomplete',
      message: expect.stringContaining('what was read back in app is not the target'),
    });
    stage.lies.delete(sandbox);
    expect((await stage.rollback('s', 'r', first.checkpointId)).status).toBe('APPLIED');
  },
);

test('branches are seen however git keeps them', async () => {
  const harness = await createHarness();
  try {
    await mkdir(join(harness.root, 'app'));
    harness.sh(INIT, 'app');
    const metaNow = async () => (await harness.capture()).repositories[0]?.meta;
    const one = await metaNow();
    harness.sh('git pack-refs --all', 'app');
    expect(await metaNow()).toBe(one);

    harness.sh('git branch topic/deep && git commit -q --allow-empty -m two', 'app');
    const snapshot = await harness.capture();
    const state = gitState(harness.root);
    expect(snapshot.repositories[0]?.meta).not.toBe(one);
    harness.sh('git pack-refs --all && git branch -D topic/deep && git branch other main~1', 'app');
    expect((await harness.rollback(snapshot)).report.outcome).toBe('applied');
    expect(gitState(harness.root)).toEqual(state);

    // What git leaves out, because it is no branch, is not in the capture either.
    const whole = await metaNow();
    harness.sh('echo nothing > .git/refs/heads/broken', 'app');
    expect(await metaNow()).toBe(whole);
    expect(await metaNow()).toBe(whole);
  } finally {
    await harness[Symbol.asyncDispose]();
  }
});
