/** A rollback over damage and interference: broken host repositories, files that appear meanwhile, what cannot be read or written. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, ONE_FILE, text, withRepositories, world } from '../support/git-repositories.ts';
import { NEEDS_ROOT } from '../support/needs-root.ts';
import { afterPlacing } from '../support/placing.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** A quarter of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-damage', 6);

/** A nobody's world: what root may read and write anyway is closed to it. */
const withoutRoot = async (): Promise<Harness> => {
  const harness = await createHarness({
    prefix: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
  });
  chmodSync(harness.top, 0o755);
  harness.sh(`chmod 777 . ..; mkdir app; cd app; ${ONE_FILE}`);
  return harness;
};
const giveAway = (harness: Harness): string => harness.sh('chown -R 65534:65534 app');

const DAMAGE = {
  'an empty HEAD': ': > .git/HEAD',
  'no HEAD': 'rm .git/HEAD',
  'an empty branch': ': > .git/refs/heads/main',
  'no objects': 'rm -rf .git/objects',
  'a .git that is a file which leads nowhere': 'rm -rf .git; echo gitdir: /nowhere > .git',
};

describe('host repositories that broke', () => {
  for (const [what, damage] of Object.entries(DAMAGE))
    test(`${what}: the rollback gives back what the target holds`, async () => {
      await using harness = await withRepositories(['app']);
      harness.sh('git branch other; echo s > s; git add s; echo u > u', 'app');
      const before = world(harness, ['app']);
      const first = await harness.capture();
      harness.sh(`echo lost > u; echo n > n; ${damage}`, 'app');
      const damaged = files(harness.root);
      const { undo } = await applies(harness, first);
      expect(world(harness, ['app'])).toEqual(before);
      expect(harness.sh('git fsck --connectivity-only 2>&1 | grep -v dangling || true', 'app')).toBe('');
      await applies(harness, undo);
      expect(files(harness.root)).toEqual(damaged);
    });

  test('the .git of a superproject or of a main worktree is gone: all come back, on their own', async () => {
    await using harness = await withRepositories(['lib', 'main']);
    harness.sh(
      `git init -q -b main sup; cd sup; git -c protocol.file.allow=always submodule --quiet add ../lib sub; git commit -qm s; cd ../main; git worktree add -q -b side ../wt`,
    );
    const paths = ['lib', 'main', 'sup', 'sup/sub', 'wt'];
    const before = files(harness.root);
    const states = paths.map((path) =>
      gitState(`${harness.root}/${path}`).filter((line) => !line.startsWith('refs/')),
    );
    const first = await harness.capture();
    harness.sh('rm -rf sup/.git main/.git; echo x > sup/sub/f.txt; echo x > wt/f.txt');
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
    expect(
      paths.map((path) => gitState(`${harness.root}/${path}`).filter((line) => !line.startsWith('refs/'))),
    ).toEqual(states);
  });

  test('a worktree that was pruned while it was set aside comes back on its own', async () => {
    await using harness = await withRepositories(['main']);
    const first = await harness.capture();
    harness.sh('git worktree add -q -b side ../wt; echo w > ../wt/w', 'main');
    const before = files(harness.root);
    const second = await harness.capture();
    await applies(harness, first);
    harness.sh('git worktree prune', 'main');
    await applies(harness, second);
    expect(files(harness.root)).toEqual(before);
    expect(harness.sh('git status --short; git branch --show-current', 'wt')).toBe('?? w\nside\n');
  });

  test('each repository that stood at a path comes back with its own .git, and none is deleted', async () => {
    await using harness = await withRepositories(['a']);
    const first = await harness.capture();
    const made = [];
    for (const k of [1, 2, 3]) {
      harness.sh(
        `rm -rf b; mkdir b; cd b; ${ONE_FILE}; git tag precious${k}; echo ${k} > k; git remote add origin https://x/repo${k}`,
      );
      made.push(await harness.capture());
      // Work after the checkpoint, so that what is set aside is not exactly what was captured.
      harness.sh(`echo later > later; git add later; git commit -qm later`, 'b');
      await applies(harness, first);
      expect(existsSync(`${harness.root}/b`)).toBe(false);
    }
    for (const k of [1, 3, 2]) {
      const target = made[k - 1];
      if (target === undefined) throw new Error('not made');
      await applies(harness, target);
      expect(harness.sh('git tag; git remote get-url origin; cat k', 'b')).toBe(
        `precious${k}\nhttps://x/repo${k}\n${k}\n`,
      );
      await applies(harness, first);
    }
  });

  test('what the template of a fresh sandbox holds is put aside', async () => {
    await using harness = await withRepositories(['app', 'lib/in']);
    const before = world(harness, ['app', 'lib/in']);
    const first = await harness.capture();
    const report = await harness.rehydrate(
      first,
      `mkdir -p app lib extra; echo e > extra/e; cd app; ${ONE_FILE}; echo old > f.txt; echo more > more; cd ../lib; echo l > l`,
    );
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    harness.sh('rm -r extra lib/l');
    expect(world(harness, ['app', 'lib/in'])).toEqual(before);
  });
});

describe('others at work', () => {
  test('what appears while a rollback fails stays, and is named', async () => {
    using others = afterPlacing('echo late > late.txt; echo mine > f.txt');
    await using harness = await withRepositories(['app'], { env: others.env });
    harness.sh('echo s > s; mkdir d; echo d > d/d', 'app');
    const first = await harness.capture();
    harness.sh(
      'echo two > f.txt; echo t > s; rm -r d; echo n > n; git checkout -qb topic; git commit -qam two',
      'app',
    );
    const after = files(harness.root);
    mkdirSync(`${harness.root}/app/.git/refs/heads/topic.lock`);
    others.arm();
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    expect(report.problems.map(({ message }) => message).join('\n')).toMatch(
      /appeared meanwhile: f.txt late.txt/,
    );
    expect([text(harness, 'app/late.txt'), text(harness, 'app/f.txt')]).toEqual(['late\n', 'mine\n']);
    harness.sh('rm late.txt; echo two > f.txt', 'app');
    expect(files(harness.root)).toEqual(after);
  });

  test(
    'a captured file that cannot be read any more refuses the rollback by name',
    async () => {
      await using harness = await withoutRoot();
      harness.sh('echo other > o; echo secret > s', 'app');
      giveAway(harness);
      const first = await harness.capture();
      harness.sh('echo rewritten > s; chmod 000 s; echo changed > o; chown 65534:65534 s o', 'app');
      const after = files(harness.root);
      const { report } = await harness.rollback(first);
      expect(report.outcome).toBe('refused');
      expect(report.problems).toMatchObject([
        { path: 'app', kind: 'conflict', message: expect.stringMatching(/\bs\b/) },
      ]);
      expect(files(harness.root)).toEqual(after);
    },
    NEEDS_ROOT,
  );

  test(
    'a directory without the right to write is no obstacle, and stays one',
    async () => {
      await using harness = await withoutRoot();
      harness.sh('mkdir ro; echo f > ro/f', 'app');
      giveAway(harness);
      const first = await harness.capture();
      harness.sh('echo g > ro/g; echo 2 > ro/f; chmod 555 ro; chown -R 65534:65534 ro', 'app');
      const after = files(harness.root);
      const { undo } = await applies(harness, first);
      expect(harness.sh('ls ro; stat -c %a ro; cat ro/f', 'app')).toBe('f\n755\nf\n');
      await applies(harness, undo);
      expect(files(harness.root)).toEqual(after);
      harness.sh('chmod 755 ro', 'app');
    },
    NEEDS_ROOT,
  );

  test('filesOnly takes the files of a newer repository, and leaves its .git', async () => {
    await using harness = await withRepositories(['app']);
    const first = await harness.capture();
    harness.sh(`mkdir new; cd new; ${ONE_FILE}`);
    await applies(harness, first, { filesOnly: true });
    expect(existsSync(`${harness.root}/new/f.txt`)).toBe(false);
    expect(harness.sh('git log --format=%s', 'new')).toBe('one\n');
  });

  test('filesOnly where a directory of one became another: the files are back, and both have their .git', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('mkdir -p pkg; echo p > pkg/p; echo q > pkg/q; git add -A; git commit -qm p', 'app');
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh(`cd pkg; ${ONE_FILE}; echo 2 > p; rm q`, 'app');
    const after = files(harness.root);
    const { undo } = await applies(harness, first, { filesOnly: true });
    expect(files(harness.root)).toEqual(before);
    expect(harness.sh('git log --format=%s', 'app/pkg')).toBe('one\n');
    await applies(harness, undo, { filesOnly: true });
    expect(files(harness.root)).toEqual(after);
  });
});
