/** What a capture cannot hold, or is told to leave out: it is named, survives a rollback, and stops no other. */
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { withTwoFiles, world } from '../support/git-repositories.ts';
import { asNobody, NEEDS_ROOT } from '../support/needs-root.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-left-out', 6);

describe('what is left out is said', () => {
  test('an untracked file over the cap is reported, survives a rollback, and a tracked one is captured', async () => {
    await using harness = await withTwoFiles(['app'], { maxFileBytes: 1000 });
    harness.sh(
      'head -c 5000 /dev/urandom > tracked.bin; git add tracked.bin; git commit -qm t; head -c 3000 /dev/urandom > big.bin; echo "*.skip" > .gitignore; head -c 3000 /dev/urandom > x.skip',
      'app',
    );
    const first = await harness.capture();
    expect(first.report.skipped).toEqual([
      { path: 'app/big.bin', reason: 'larger than maxFileBytes (1000)', sizeBytes: 3000 },
    ]);
    harness.sh('head -c 4000 /dev/urandom > big.bin; head -c 5000 /dev/urandom > tracked.bin', 'app');
    const big = readFileSync(`${harness.root}/app/big.bin`);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${harness.root}/app/big.bin`).equals(big)).toBe(true);
    expect(harness.sh('git diff --stat', 'app')).toBe('');
  });

  test('a file that the target left out for its size stays, also when it is small by now, and the plan says so', async () => {
    await using harness = await withTwoFiles(['app', 'app/in'], { maxFileBytes: 1000 });
    harness.sh('head -c 3000 /dev/zero > app/big; head -c 3000 /dev/zero > app/in/big');
    const first = await harness.capture();
    harness.sh('echo small > app/big; echo small > app/in/big; echo n > app/new');
    await harness.capture();
    const plan = await harness.rollback(first, { dryRun: true });
    expect(plan.report.warnings.toSorted()).toEqual([
      'app/in: big stays, although the checkpoint does not have it: was too large for it',
      'app: big stays, although the checkpoint does not have it: was too large for it',
    ]);
    expect(plan.report.repositories.map(({ path, deleted }) => `${path} ${deleted}`).toSorted()).toEqual([
      'app 1',
      'app/in 0',
    ]);
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(harness.sh('cat app/big app/in/big; ls app/new 2>/dev/null || :')).toBe('small\nsmall\n');
  });

  test('our own files are in no capture, also where git was told to track them', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh('echo n > n; git add -Af; git commit -qm forced; echo m > m; rm a.txt', 'app');
    const forced = await harness.capture();
    expect(forced.report.skipped.map(({ path }) => path)).toEqual(['app/.agent-shadow']);
    for (const work of [':', 'git reset -q --hard', 'git checkout -qf HEAD~1', 'git stash -q --all']) {
      const there = world(harness, ['app']);
      const { report, undo } = await harness.rollback(first);
      expect([report.outcome, report.problems, report.warnings], work).toEqual(['applied', [], []]);
      expect(harness.sh('cat a.txt; ls n m 2>/dev/null || :', 'app')).toBe('one\n');
      const back = (await harness.rollback(undo)).report;
      expect([back.outcome, back.problems], work).toEqual(['applied', []]);
      expect(world(harness, ['app']), work).toEqual(there);
      harness.sh(`${work}; echo ${work.length} > n`, 'app');
      await harness.capture();
    }
  });

  test('an ignored file in the place of a directory that is to be empty is named, and nothing is done', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('mkdir -p in/deep hollow', 'app');
    const first = await harness.capture();
    harness.sh(
      'rmdir in/deep hollow; echo f > in/deep; echo c > hollow; echo in/ > .gitignore; rm a.txt',
      'app',
    );
    const there = world(harness, ['app']);
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems.map(({ message }) => message)]).toEqual([
      'refused',
      ['not captured and in the way of a directory: in/deep'],
    ]);
    expect(world(harness, ['app'])).toEqual(there);
    harness.sh('rm in/deep', 'app');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(harness.sh('stat -c "%F %n" in/deep hollow', 'app')).toBe('directory in/deep\ndirectory hollow\n');
  });

  test('a directory that is to be empty may lie where a repository was made since', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('mkdir -p lib/d', 'app');
    const first = await harness.capture();
    harness.sh('rm -r lib; git init -q lib; echo d > lib/d', 'app');
    const there = files(harness.root);
    const { report, undo } = await harness.rollback(first);
    expect([report.outcome, report.problems, report.warnings]).toEqual(['applied', [], []]);
    expect(harness.sh('stat -c "%F %n" lib/*', 'app')).toBe('directory lib/d\n');
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(files(harness.root)).toEqual(there);
    harness.sh('echo d > lib/.gitignore', 'app');
    await harness.capture();
    const { outcome, problems } = (await harness.rollback(first)).report;
    expect([outcome, problems.map(({ message }) => message)]).toEqual([
      'refused',
      ['not captured and in the way of a directory: lib/d'],
    ]);
    expect(harness.sh('cat lib/d', 'app')).toBe('d\n');
  });

  test('a file that is ignored since it was captured stays', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh('echo secret > .env; echo n > n', 'app');
    await harness.capture();
    harness.sh('echo .env > .gitignore', 'app');
    const second = await harness.capture();
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(harness.sh('cat .env; ls n 2>/dev/null || :', 'app')).toBe('secret\n');
    expect((await harness.rollback(second)).report.outcome).toBe('applied');
    expect(harness.sh('cat .env n', 'app')).toBe('secret\nn\n');
  });

  test('a captured file that grows past the cap is given back as it was', async () => {
    await using harness = await withTwoFiles(['app'], { maxFileBytes: 1000 });
    harness.sh('echo small > grows', 'app');
    const first = await harness.capture();
    harness.sh('head -c 5000 /dev/urandom > grows', 'app');
    const grown = readFileSync(`${harness.root}/app/grows`);
    const second = await harness.capture();
    expect(second.report.skipped.map((one) => one.path)).toEqual(['app/grows']);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(readFileSync(`${harness.root}/app/grows`, 'utf8')).toBe('small\n');
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(
      readFileSync(`${harness.root}/app/grows`).equals(grown),
      'what would have been overwritten was captured first',
    ).toBe(true);
  });

  test('a file over the cap is left out although the session includes it', async () => {
    await using harness = await withTwoFiles(['app'], {
      maxFileBytes: 1000,
      include: ['.env', 'cache/**'],
    });
    harness.sh(
      'printf ".env\\ncache/\\n" > .gitignore; echo A=1 > .env; mkdir cache; echo s > cache/-s',
      'app',
    );
    harness.sh('head -c 3000 /dev/urandom > cache/big', 'app');
    const left = { path: 'app/cache/big', reason: 'larger than maxFileBytes (1000)', sizeBytes: 3000 };
    const first = await harness.capture();
    expect(first.report.skipped).toEqual([left]);
    expect(first.report.bundles.every(({ sizeBytes }) => sizeBytes < 3000)).toBe(true);
    harness.sh('head -c 5000 /dev/urandom > .env; echo t > cache/-s', 'app');
    const second = await harness.capture();
    expect(second.report.skipped).toEqual([{ ...left, path: 'app/.env', sizeBytes: 5000 }, left]);
    expect(second.report.bundles.every(({ sizeBytes }) => sizeBytes < 3000)).toBe(true);
  });

  test('a repository whose .git is a symlink is named, never taken for one', async () => {
    await using harness = await withTwoFiles(['app', 'odd', 'app/inner']);
    harness.sh('mv odd/.git ../odd.git; ln -s ../../odd.git odd/.git');
    harness.sh('mv app/inner/.git ../inner.git; ln -s ../../../inner.git app/inner/.git');
    const reason = 'a git repository whose .git is a symlink';
    const paths = ['app/inner', 'odd'];
    for (const content of ['one', 'two']) {
      harness.sh(`echo ${content} > app/a.txt; echo ${content} > odd/a.txt`);
      const { report } = await harness.capture();
      expect(report.repositories.map(({ path }) => path)).toEqual(['app']);
      expect(report.failures).toEqual([]);
      expect([...new Set(report.skipped.map(({ path }) => path))].toSorted()).toEqual(paths);
      expect(new Set(report.skipped.map((one) => one.reason))).toEqual(new Set([reason]));
    }
  });

  test(
    'an unreadable directory and file: the rest is captured, the failure is named',
    async () => {
      await using harness = await asNobody('mkdir locked; echo l > locked/l; echo s > secret');
      harness.sh('chmod 000 locked secret', 'app');
      const first = await harness.capture();
      const app = first.repositories.find((one) => one.path === 'app');
      expect(app?.state).toBe('captured');
      expect(first.report.failures).toEqual([
        { path: 'app/locked/', reason: 'the directory cannot be read: Permission denied' },
        { path: 'app/secret', reason: 'the file cannot be read: Permission denied' },
      ]);
    },
    NEEDS_ROOT,
  );

  test(
    'a directory that may be listed and not entered, and rules that cannot be read, are named',
    async () => {
      await using harness = await asNobody('mkdir locked; echo l > locked/l; echo s > secret');
      const first = await harness.capture();
      harness.sh('echo x > .gitignore; chmod 444 locked; chmod 000 .gitignore', 'app');
      const { report } = await harness.capture();
      expect(report.failures.map(({ path }) => path).toSorted()).toEqual(['app/.gitignore', 'app/locked']);
      expect((await harness.rollback(first)).report.problems).toMatchObject([{ kind: 'conflict' }]);
    },
    NEEDS_ROOT,
  );

  test(
    'captured files that cannot be read any more are not captured as they were, and never overwritten',
    async () => {
      await using harness = await asNobody('mkdir locked; echo l > locked/l; echo s > secret');
      const first = await harness.capture();
      harness.sh('echo mine > secret; echo mine > locked/l; chmod 000 locked secret', 'app');
      const second = await harness.capture();
      expect(second.report.failures.map((one) => one.path)).toEqual(
        expect.arrayContaining(['app/locked/', 'app/secret']),
      );
      const tree = second.repositories[0]?.tree ?? '';
      const names = harness.sh(
        `git -c safe.directory='*' --git-dir=.agent-shadow/session-s1 ls-tree -r --name-only ${tree}`,
        'app',
      );
      expect(names).toBe('a.txt\nsrc/main.c\n');
      const { report } = await harness.rollback(first);
      expect(report.outcome).toBe('refused');
      expect(report.problems).toMatchObject([{ path: 'app', kind: 'conflict' }]);
      expect(harness.sh('cat secret locked/l', 'app')).toBe('mine\nmine\n');
    },
    NEEDS_ROOT,
  );

  test('a captured file that became a FIFO is named, and stands in the way', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh('rm a.txt; mkfifo a.txt', 'app');
    const second = await harness.capture();
    expect(second.report.failures).toEqual([
      {
        path: 'app/a.txt',
        reason: 'not a file, a directory or a symlink: it stands where a captured file was',
      },
    ]);
    const { report } = await harness.rollback(first);
    expect(report.problems).toMatchObject([{ path: 'app', kind: 'conflict' }]);
    expect(report.problems[0]?.message).toContain('a.txt');
    harness.sh('rm a.txt', 'app');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
  });

  test('a git repository in a dependency folder, or deeper than we look, is named and never touched', async () => {
    await using harness = await withTwoFiles(['app'], { maxDepth: 2 });
    harness.sh(
      `git init -q a/b/c/deep; echo d > a/b/c/deep/d; git init -q node_modules/dep; (cd node_modules/dep; echo x > x; git add x; git commit -qm x)`,
      'app',
    );
    const first = await harness.capture();
    expect(first.report.skipped.map((one) => one.path).toSorted()).toEqual([
      'app/a/b/c/deep',
      'app/node_modules/dep',
    ]);
    expect(first.report.failures).toEqual([]);
    harness.sh('echo y > a/b/c/deep/d; echo z > a.txt', 'app');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${harness.root}/app/a/b/c/deep/d`, 'utf8')).toBe('y\n');
  });

  test('damage in a .git is named and stops no capture', async () => {
    const damages = {
      index: [': > .git/index', 'branch', ['.git/index']],
      garbage: ['echo garbage > .git/index', 'branch', ['.git/index']],
      head: [': > .git/HEAD', 'unreadable', ['.git']],
      main: [': > .git/refs/heads/main', 'unreadable', ['.git', '.git/refs/heads/main']],
      topic: [': > .git/refs/heads/topic', 'branch', ['.git/refs/heads/topic']],
      objects: ['rm -rf .git/objects/*', 'unreadable', ['.git']],
    } as const;
    await using harness = await withTwoFiles(Object.keys(damages));
    for (const path of Object.keys(damages)) harness.sh('git branch topic', path);
    await harness.capture();
    for (const [path, [damage]] of Object.entries(damages)) {
      harness.sh(`${damage}; echo after > a.txt; echo new > new`, path);
    }
    const { report, repositories } = await harness.capture();
    const found = repositories.map(({ path, state, info }) => [path, `${state}, ${info?.headKind}`]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(damages).map(([path, [, kind]]) => [path, `captured, ${kind}`])),
    );
    const expected = Object.entries(damages).flatMap(([path, [, , failures]]) =>
      failures.map((name) => `${path}/${name}`),
    );
    expect(report.failures.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
    for (const path of Object.keys(damages)) harness.sh('echo once more > new', path);
    const again = await harness.capture();
    expect(again.report.failures.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
    const before = files(harness.root);
    expect((await harness.rehydrate(again)).outcome).toBe('applied');
    expect(files(harness.root)).toEqual(before);
  });

  test.for([
    ['git config include.path config', 'circular includes'],
    ["echo '[core' >> .git/config", 'bad config line'],
    ['git config core.repositoryformatversion 9', 'found 9'],
  ] as const)('settings that git does not take are named with what it says: %s', async ([make, says]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(make, 'app');
    const { report } = await harness.capture();
    expect(report.failures).toEqual([
      { path: 'app/.git', reason: expect.stringMatching(`cannot be read: fatal: .*${says}`) },
    ]);
  });

  test('a .git that is not usable: files are captured, the host state is named as missing', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    harness.sh('rm web/.git/HEAD');
    const first = await harness.capture();
    expect(first.repositories.map((one) => one.state)).toEqual(['captured', 'captured']);
    expect(first.report.failures).toEqual([
      {
        path: 'web/.git',
        reason: 'the .git of this repository is not usable, so branch, HEAD and index are not captured',
      },
    ]);
  });
});
