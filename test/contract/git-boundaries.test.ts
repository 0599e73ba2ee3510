/** Where capture and restore meet limits, damage and hostility. Real git; failures are made by real means. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { captureScript } from '../../adapters/git/capture-command.ts';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness, type HarnessOptions } from '../support/git-harness.ts';
import { withRepositories as makeRepositories, world } from '../support/git-repositories.ts';

const INIT =
  'git init -q -b main . && echo one > a.txt && mkdir -p src && echo code > src/main.c && git add -A && git commit -qm one';

const withRepositories = (names: string[], options?: HarnessOptions): Promise<Harness> =>
  makeRepositories(names, options, INIT);

describe('repositories that come and go', () => {
  test('one created after the checkpoint is parked, with its .git, and comes back on undo', async () => {
    await using harness = await withRepositories(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(
      `git init -q -b main new/deep; cd new/deep; echo n > n; git add n; git commit -qm n; git stash list; echo '*.log' > .gitignore; echo w > w; git tag keep`,
    );
    const after = world(harness, ['app', 'new/deep']);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(report.repositories.find((one) => one.path === 'new/deep')?.action).toBe('parked');
    expect(world(harness, ['app'])).toEqual(before);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(world(harness, ['app', 'new/deep'])).toEqual(after);
    expect(
      harness.sh('git tag', 'new/deep').trim(),
      'what no capture holds came back with the parked .git',
    ).toBe('keep');
  });

  test('ignored files of a parked repository stay where they are', async () => {
    await using harness = await withRepositories(['app']);
    const first = await harness.capture();
    harness.sh(`git init -q -b main new; echo '*.log' > new/.gitignore; echo precious > new/x.log`);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${harness.root}/new/x.log`, 'utf8')).toBe('precious\n');
  });

  test('one deleted whole is made again from its bundles, with history, branches and remotes', async () => {
    await using harness = await withRepositories(['app', 'web']);
    harness.sh(
      'git remote add origin https://user:secret@example.com/web.git; git branch topic; echo w >> a.txt; git add a.txt; echo u > u',
      'web',
    );
    const before = world(harness, ['app', 'web']);
    const first = await harness.capture();
    harness.sh('rm -rf web; echo x > app/a.txt');
    const second = await harness.capture();
    expect(second.repositories.find((one) => one.path === 'web')?.state).toBe('absent');
    const { undo, report } = await harness.rollback(first);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app', 'web'])).toEqual(before);
    expect(
      harness.sh(
        'git remote get-url origin; git fsck --connectivity-only 2>&1 | grep -v dangling || true',
        'web',
      ),
    ).toBe('https://example.com/web.git\n');
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(existsSync(`${harness.root}/web`)).toBe(false);
  });

  test('one whose .git was deleted keeps being captured, and gets its .git back', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('echo s > s; git add s; echo u > u', 'app');
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh('rm -rf .git; echo lost > u; echo n > n', 'app');
    const after = files(harness.root);
    const { undo, report } = await harness.rollback(first);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(files(harness.root)).toEqual(after);
  });

  test('one renamed is the old one gone and a new one come', async () => {
    await using harness = await withRepositories(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh('mv app moved; echo m > moved/m');
    const after = world(harness, ['moved']);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(world(harness, ['moved'])).toEqual(after);
  });

  test('the projects root itself may be the repository', async () => {
    await using harness = await createHarness();
    harness.sh(`${INIT}; git init -q -b main inner; cd inner; echo i > i`);
    const before = world(harness, ['.', 'inner']);
    const first = await harness.capture();
    expect(first.repositories.map((one) => one.path).toSorted()).toEqual(['.', 'inner']);
    harness.sh('rm -rf a.txt inner; echo x > x; git add -A; git commit -qm x');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(world(harness, ['.', 'inner'])).toEqual(before);
  });
});

describe('what is left out is said', () => {
  test('an untracked file over the cap is reported, survives a rollback, and a tracked one is captured', async () => {
    await using harness = await withRepositories(['app'], { maxFileBytes: 1000 });
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

  test('a captured file that grows past the cap is given back as it was', async () => {
    await using harness = await withRepositories(['app'], { maxFileBytes: 1000 });
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
    await using harness = await withRepositories(['app'], {
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
    await using harness = await withRepositories(['app', 'odd', 'app/inner']);
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

  const asNobody = async (): Promise<Harness> => {
    const harness = await createHarness({
      prefix: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
    });
    harness.sh(
      `mkdir app; cd app; ${INIT}; mkdir locked; echo l > locked/l; echo s > secret; chown -R 65534:65534 . ..; chmod 755 ../..`,
    );
    chmodSync(harness.top, 0o755);
    return harness;
  };

  test('an unreadable directory and file: the rest is captured, the failure is named', async () => {
    await using harness = await asNobody();
    harness.sh('chmod 000 locked secret', 'app');
    const first = await harness.capture();
    const app = first.repositories.find((one) => one.path === 'app');
    expect(app?.state).toBe('captured');
    expect(first.report.failures).toEqual([
      { path: 'app/locked/', reason: 'the directory can not be read: Permission denied' },
      { path: 'app/secret', reason: 'the file can not be read: Permission denied' },
    ]);
  });

  test('a directory that may be listed and not entered, and rules that can not be read, are named', async () => {
    await using harness = await asNobody();
    const first = await harness.capture();
    harness.sh('echo x > .gitignore; chmod 444 locked; chmod 000 .gitignore', 'app');
    const { report } = await harness.capture();
    expect(report.failures.map(({ path }) => path).toSorted()).toEqual(['app/.gitignore', 'app/locked/l']);
    expect((await harness.rollback(first)).report.problems).toMatchObject([{ kind: 'conflict' }]);
  });

  test('captured files that can not be read any more are not captured as they were, and never overwritten', async () => {
    await using harness = await asNobody();
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
  });

  test('a captured file that became a FIFO is named, and stands in the way', async () => {
    await using harness = await withRepositories(['app']);
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
    await using harness = await withRepositories(['app'], { maxDepth: 2 });
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
      objects: ['rm -rf .git/objects/*', 'unreadable', ['.git/index', '.git']],
    } as const;
    await using harness = await withRepositories(Object.keys(damages));
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

  test('a .git that is not usable: files are captured, the host state is named as missing', async () => {
    await using harness = await withRepositories(['app', 'web']);
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

describe('all or none', () => {
  test('a target that an ignored directory blocks is refused, and nothing changed', async () => {
    await using harness = await withRepositories(['app', 'web']);
    harness.sh('echo f > app/spot; echo w > web/w');
    const first = await harness.capture();
    harness.sh(
      `rm app/spot; mkdir app/spot; echo spot/ > app/.gitignore; echo keep > app/spot/keep; echo x > web/w`,
    );
    const after = world(harness, ['app', 'web']);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('refused');
    expect(report.problems.map((one) => [one.path, one.kind])).toEqual([['app', 'conflict']]);
    expect(report.problems[0]?.message).toContain('spot');
    expect(world(harness, ['app', 'web'])).toEqual(after);
  });

  test('when one repository can not be written, every repository is put back', async () => {
    await using harness = await withRepositories(['app', 'web']);
    harness.sh('mkdir web/sub; echo w > web/sub/w; echo b >> app/a.txt');
    const first = await harness.capture();
    harness.sh(
      'echo x > app/a.txt; rm -r web/sub; cd web; git checkout -qb topic; echo t > t; git add t; git commit -qm t',
    );
    const after = world(harness, ['app', 'web']);
    // A ref that can not be locked: files move, then the host state can not follow.
    mkdirSync(`${harness.root}/web/.git/refs/heads/topic.lock`);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    expect(report.problems.map((one) => one.path)).toEqual(['web']);
    expect(world(harness, ['app', 'web'])).toEqual(after);
  });

  test('a full disk: the capture fails by name, nothing is half there, and it works when there is room', async () => {
    await using harness = await createHarness();
    const disk = `${harness.top}/disk`;
    mkdirSync(disk);
    harness.sh(`mount -t tmpfs -o size=3m tmpfs ${disk}`);
    try {
      harness.sh(`mkdir ${harness.root}/app; mount --bind ${disk} ${harness.root}/app`);
      harness.sh(
        `${INIT}; head -c 1500000 /dev/urandom > big; head -c 1000000 /dev/urandom > more || true`,
        'app',
      );
      const report = (await harness.capture()).report;
      expect(report.repositories.map((one) => one.state)).toEqual(['failed']);
      expect(report.failures[0]?.reason).toMatch(/No space left on device/);
      harness.sh('rm big more', 'app');
      expect((await harness.capture()).report.repositories.map((one) => one.state)).toEqual(['captured']);
    } finally {
      harness.sh(`umount ${harness.root}/app || true; umount ${disk}`);
    }
  });

  test('an index that git can not read is given back as it was captured', async () => {
    await using harness = await withRepositories(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(': > .git/index; echo x > a.txt', 'app');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
  });

  test('files that change between the capture and the restore stop it', async () => {
    await using harness = await withRepositories(['app']);
    const first = await harness.capture();
    harness.sh('echo x > a.txt', 'app');
    const restoring = harness.sandbox.calls + 2;
    harness.sandbox.beforeRun = (call) => {
      if (call === restoring) harness.sh('echo background > a.txt', 'app');
    };
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('refused');
    expect(report.problems.map((one) => one.kind)).toEqual(['changed']);
    expect(readFileSync(`${harness.root}/app/a.txt`, 'utf8')).toBe('background\n');
  });

  test('what has too many links and patterns for one command is captured and restored all the same', async () => {
    const exclude = Array.from({ length: 400 }, (_, index) => `*.${String(index).padStart(300, 'x')}`);
    await using harness = await withRepositories(['app'], { exclude });
    const first = await harness.capture();
    const before = world(harness, ['app']);
    harness.sh('rm -rf app');
    const { undo, report } = await harness.rollback(first);
    expect(undo.repositories).toMatchObject([{ path: 'app', state: 'absent' }]);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
    expect(harness.sh('find . -name "*.values"')).toBe('');
  });

  test('a dry run says what would happen and does none of it', async () => {
    await using harness = await withRepositories(['app', 'web']);
    const first = await harness.capture();
    harness.sh('echo x > app/a.txt; rm app/src/main.c; echo n > app/n; git init -q new; echo q > new/q');
    const after = world(harness, ['app', 'web']);
    const { report } = await harness.rollback(first, { dryRun: true });
    expect(report.outcome).toBe('planned');
    expect(report.repositories.toSorted((a, b) => a.path.localeCompare(b.path))).toMatchObject([
      {
        path: 'app',
        action: 'restored',
        written: 2,
        deleted: 1,
        paths: [
          { path: 'a.txt', change: 'write' },
          { path: 'n', change: 'delete' },
          { path: 'src/main.c', change: 'write' },
        ],
      },
      { path: 'new', action: 'parked', deleted: 1 },
      { path: 'web', action: 'unchanged', written: 0, deleted: 0 },
    ]);
    expect(world(harness, ['app', 'web'])).toEqual(after);
  });

  test('filesOnly leaves HEAD, branches and index alone', async () => {
    await using harness = await withRepositories(['app']);
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh(
      'git checkout -qb topic; echo x > a.txt; git add a.txt; git commit -qm x; echo s > s; git add s',
      'app',
    );
    const git = gitState(`${harness.root}/app`);
    expect((await harness.rollback(first, { filesOnly: true })).report.outcome).toBe('applied');
    expect(files(harness.root)).toEqual(before);
    expect(gitState(`${harness.root}/app`)).toEqual(git);
  });
});

describe('hostile and broken sandboxes', () => {
  test('nothing is written or deleted through a symlink that replaced a directory', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('mkdir d; echo in > d/f', 'app');
    const first = await harness.capture();
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    writeFileSync(`${outside}/f`, 'outside');
    harness.sh('rm -r d', 'app');
    symlinkSync(outside, `${harness.root}/app/d`);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${outside}/f`, 'utf8')).toBe('outside');
    expect(readFileSync(`${harness.root}/app/d/f`, 'utf8')).toBe('in\n');
  });

  test('an ignored symlink in the way is captured before it is replaced', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('mkdir d; echo in > d/f', 'app');
    const first = await harness.capture();
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    harness.sh(`rm -r d; ln -s ${outside} d; echo d > .git/info/exclude`, 'app');
    const after = files(harness.root);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(files(outside)).toEqual([]);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(files(harness.root)).toEqual(after);
  });

  test('.agent-shadow replaced by a symlink is refused, not followed', async () => {
    await using harness = await withRepositories(['app', 'web']);
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    symlinkSync(outside, `${harness.root}/app/.agent-shadow`);
    const report = (await harness.capture()).report;
    expect(new Map(report.repositories.map((one) => [one.path, one.state]))).toEqual(
      new Map([
        ['app', 'failed'],
        ['web', 'captured'],
      ]),
    );
    expect(files(outside)).toEqual([]);
  });

  test('what the agent writes into the shadow does not last: config, hooks, a broken index, missing objects', async () => {
    await using harness = await withRepositories(['app']);
    await harness.capture();
    harness.sh(
      `cd .agent-shadow/session-s1; printf '#!/bin/sh\\ntouch ~/OWNED\\n' > evil; chmod 755 evil; git config --file config core.fsmonitor "$PWD/evil"; git config --file config core.hooksPath "$PWD"; echo garbage > index; rm -rf objects/??; touch index.lock; echo x > ../../a.txt`,
      'app',
    );
    const second = await harness.capture();
    expect(second.report.failures).toEqual([]);
    expect(second.repositories.map((one) => one.state)).toEqual(['captured']);
    expect(harness.sh('ls ~')).toBe('');
  });

  test('a command killed at any instant leaves a lock nobody waits for and a state the next capture repairs', async () => {
    await using harness = await withRepositories(['app', 'web']);
    harness.sh('for i in $(seq 1 400); do echo $i > app/f$i; done');
    const request = {
      sessionId: 's1',
      projectsRoot: harness.root,
      toolExecutionId: 'k',
      messageId: null,
      reason: 'manual',
      known: [],
      knownBases: [],
      include: [],
      exclude: [],
      maxFileBytes: 1e9,
      maxDepth: 3,
      timeoutMs: 30_000,
      maxInlineBytes: 1 << 20,
    };
    for (let delayMs = 10; delayMs <= 250; delayMs += 30) {
      const { command } = captureScript(request, `k${delayMs}`, 'mark');
      const child = spawn('/bin/bash', ['-c', command], {
        cwd: harness.root,
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'] ?? '', HOME: harness.home },
      });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), delayMs);
        child.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    const report = (await harness.capture()).report;
    expect(report.failures).toEqual([]);
    expect(report.repositories.map((one) => one.state)).toEqual(['captured', 'captured']);
  });

  test('a clock that steps back hides no change', async () => {
    await using harness = await withRepositories(['app']);
    await harness.capture();
    harness.sh(
      'touch -d "+1 hour" .agent-shadow/session-s1/*; echo edited > a.txt; echo new > new.txt',
      'app',
    );
    const second = await harness.capture();
    expect(second.repositories).toMatchObject([{ changed: true }]);
    const tree = second.repositories[0]?.tree ?? '';
    expect(
      harness.sh(`git --git-dir=.agent-shadow/session-s1 show ${tree}:a.txt ${tree}:new.txt`, 'app'),
    ).toBe('edited\nnew\n');
  });

  test('eight captures at once wait for each other', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('echo x > x', 'app');
    const reports = await Promise.all(Array.from({ length: 8 }, () => harness.capture()));
    expect(new Set(reports.map((one) => one.repositories[0]?.tree)).size).toBe(1);
    expect(reports.flatMap((one) => one.report.failures)).toEqual([]);
  });
});

describe('size', () => {
  test('50,000 files, and a 20 MiB file that is read as a file of its own', {
    timeout: 120_000,
  }, async () => {
    await using harness = await withRepositories(['app'], { maxInlineBytes: 64 << 20 });
    harness.sh(
      'mkdir -p many; cd many; seq 1 50000 | split -l 1 -a 5 -d - f; cd ..; head -c 20971520 /dev/urandom > big.bin',
      'app',
    );
    const first = await harness.capture();
    expect(first.report.bundles.filter((bundle) => bundle.bytes === undefined)).toHaveLength(0);
    harness.sh('rm -rf many/f?0??? big.bin', 'app');
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(report.repositories[0]?.written).toBe(5_001);
    expect(harness.sh('ls many | wc -l; stat -c %s big.bin; git status --short', 'app')).toBe(
      '50000\n20971520\n?? big.bin\n?? many/\n',
    );
  });
});
