/** A restore that meets obstacles changes every repository or none, and a dry run none. */
import { mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';

describe('all or none', () => {
  test('a target that an ignored directory blocks is refused, and nothing changed', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
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

  test('when one repository cannot be written, every repository is put back', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    harness.sh('mkdir web/sub; echo w > web/sub/w; echo b >> app/a.txt');
    const first = await harness.capture();
    harness.sh(
      'echo x > app/a.txt; rm -r web/sub; cd web; git checkout -qb topic; echo t > t; git add t; git commit -qm t',
    );
    const after = world(harness, ['app', 'web']);
    // A ref that cannot be locked: files move, then the host state cannot follow.
    mkdirSync(`${harness.root}/web/.git/refs/heads/topic.lock`);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    expect(report.problems.map((one) => one.path)).toEqual(['web']);
    expect(world(harness, ['app', 'web'])).toEqual(after);
  });

  test(
    'a full disk: the capture fails by name, nothing is half there, and it works when there is room',
    NEEDS_MOUNT,
    async () => {
      await using harness = await createHarness();
      const disk = `${harness.top}/disk`;
      mkdirSync(disk);
      harness.sh(`mount -t tmpfs -o size=3m tmpfs ${disk}`);
      try {
        harness.sh(`mkdir ${harness.root}/app; mount --bind ${disk} ${harness.root}/app`);
        harness.sh(
          `${TWO_FILES}; head -c 1500000 /dev/urandom > big; head -c 1000000 /dev/urandom > more || true`,
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
    },
  );

  test(
    'where another file system is mounted, files are written in place, and it is said',
    NEEDS_MOUNT,
    async () => {
      await using harness = await withTwoFiles(['app']);
      harness.sh('mkdir mounted; mount -t tmpfs -o size=3m tmpfs mounted', 'app');
      try {
        harness.sh('echo kept > mounted/file; echo other > mounted/other', 'app');
        const first = await harness.capture();
        harness.sh('rm mounted/file; echo changed > mounted/other', 'app');
        const { report } = await harness.rollback(first);
        expect(report.outcome).toBe('applied');
        expect(harness.sh('cat mounted/file mounted/other', 'app')).toBe('kept\nother\n');
        expect(report.warnings).toContainEqual(expect.stringMatching(/into one at that instant may be lost/));
      } finally {
        harness.sh('umount mounted', 'app');
      }
    },
  );

  test('an index that git cannot read is given back as it was captured', async () => {
    await using harness = await withTwoFiles(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(': > .git/index; echo x > a.txt', 'app');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
  });

  test('files that change between the capture and the restore stop it', async () => {
    await using harness = await withTwoFiles(['app']);
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
    await using harness = await withTwoFiles(['app'], { exclude });
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
    await using harness = await withTwoFiles(['app', 'web']);
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
    await using harness = await withTwoFiles(['app']);
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

test('of directories with what no capture holds, where the target has files, one is named with what it holds', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh("echo '*.o' > .gitignore; echo 1 > one; echo 2 > two", 'app');
  const first = await harness.capture();
  harness.sh('rm one two; mkdir one two; touch one/a.o one/b.o two/c.o', 'app');
  // The function captures what is in the way of its target. This one had another target.
  const from = await harness.capture();
  const { report } = await harness.rollback(first, { from });
  expect(report).toMatchObject({ outcome: 'refused', problems: [{ path: 'app', kind: 'conflict' }] });
  const [, dir = '', held = ''] =
    /^(one|two) is a file in the target and a directory now, which holds files that are not captured: (.*)$/.exec(
      report.problems[0]?.message ?? '',
    ) ?? [];
  expect(held.trim().split(' ').toSorted()).toEqual({ one: ['one/a.o', 'one/b.o'], two: ['two/c.o'] }[dir]);
});
