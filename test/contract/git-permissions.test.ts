/** Modes that directories hand on, and what another user owns: restores are exact, or say what they cannot do. */
import { describe, expect } from 'vitest';
import { applies, goesBackAndForth, rebuilds, withRepositories, world } from '../support/git-repositories.ts';
import { asNobody, NEEDS_ROOT } from '../support/needs-root.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-permissions', 8);

const MAKE = `git init -q -b main .; mkdir -p src/sub src/none; echo a > a.txt; echo c > src/c; echo l > src/sub/l
git add -A; git commit -qm one`;

describe('directories that hand on their group', () => {
  test.for([
    ['begin to', '', 'chmod g+s src'],
    ['begin to, empty ones too', '', 'chmod g+s src src/none'],
    ['begin to, and directories in them go', '', 'chmod g+s src; rm -r src/sub src/none'],
    ['had directories in them that did not', 'chmod g+s src', 'rm -r src/sub src/none'],
    ['go as a whole', 'chmod g+s src', 'rm -r src'],
    ['stop', 'chmod g+s src; mkdir -p src/in/e; echo l > src/in/l', 'chmod g-s src; rm -r src/in src/sub'],
    ['lose a deep one', 'mkdir -p d/a/b/c; echo k > d/a/b/c/k; chmod g+s d', 'rm -r d/a'],
    ['is the repository itself', 'chmod g+s .', 'rm -r src'],
    ['have every bit there is', '', 'chmod 7777 src src/none'],
    ['hand on their owner as well', '', 'chmod u+s src a.txt src/none'],
    [
      'hold ignored ones',
      'chmod g+s src; echo in/ > .gitignore; mkdir -p src/in/e',
      'chmod g-s src; rm -r src/sub',
    ],
  ])('%s', async ([, make, change]) => {
    await using harness = await withRepositories(['app'], {}, MAKE);
    harness.sh(make, 'app');
    const { first } = await goesBackAndForth(harness, () => harness.sh(change, 'app'));
    await rebuilds(harness, first);
  });
});

describe('what this user cannot read', () => {
  test(
    'new files and directories stay as they are, their modes too, and are named',
    async () => {
      await using harness = await asNobody();
      const first = await harness.capture();
      harness.sh(
        `echo n > new; chmod 600 new; mkdir -m 700 closed; echo c > closed/c
      mkdir listed; echo l > listed/l; chmod 644 listed; chown 65534 listed`,
        'app',
      );
      const after = world(harness, ['app']);
      const { report, undo } = await harness.rollback(first);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      expect(report.warnings.toSorted()).toEqual(
        ['closed', 'listed', 'new'].map(
          (name) => `app: ${name} stays as it is, because it could not be captured`,
        ),
      );
      expect(undo.report.failures.map(({ path }) => path.replace(/\/$/, '')).toSorted()).toEqual([
        'app/closed',
        'app/listed',
        'app/new',
      ]);
      expect(world(harness, ['app'])).toEqual(after);
    },
    NEEDS_ROOT,
  );

  for (const [what, make, change, outcome] of [
    ['of another user since', 'mkdir -m 700 data; mkfifo data/pipe', 'chown 0 data', 'applied'],
    ['not to be written either', 'mkdir data; mkfifo data/pipe; chmod 500 data', 'chown 0 data', 'applied'],
    [
      'and the rollback is put back',
      'mkdir data; mkfifo data/pipe; chmod 500 data',
      'chown 0 data; chmod 777 src; chown 0 src',
      'reverted',
    ],
    ['with a group that it was handed', 'chmod g+s .', 'mkdir -m 2700 data; echo k > data/k', 'applied'],
    [
      'beside a repository that goes',
      ':',
      'mkdir -m 700 data; echo k > data/k; git init -q in; touch in/k; chown -R 65534:65534 in',
      'applied',
    ],
  ] as const)
    test(
      `a directory keeps its mode: ${what}`,
      async () => {
        await using harness = await asNobody(make);
        const first = await harness.capture();
        expect(first.report.failures).toEqual([]);
        harness.sh(`${change}; echo two > a.txt; chown 65534 a.txt`, 'app');
        const look = () => harness.sh('stat -c "%a %u %n" data; cat a.txt', 'app');
        const after = look();
        const { report } = await harness.rollback(first);
        expect(report.outcome, JSON.stringify(report.problems)).toBe(outcome);
        expect(report.warnings).toEqual(['app: data stays as it is, because it could not be captured']);
        expect(look()).toBe(outcome === 'applied' ? after.replace('two', 'one') : after);
      },
      NEEDS_ROOT,
    );

  test(
    'a directory that lost the permission to enter it is named in the same way each time',
    async () => {
      await using harness = await asNobody();
      const first = await harness.capture();
      harness.sh('echo k > src/main.c; chmod 644 src', 'app');
      const second = await harness.capture();
      const third = await harness.capture();
      for (const { report } of [second, third])
        expect(report.failures).toEqual([{ path: 'app/src', reason: 'the directory cannot be entered' }]);
      expect(third.repositories[0]).toMatchObject({
        tree: second.repositories[0]?.tree,
        meta: second.repositories[0]?.meta,
      });
      const { report } = await harness.rollback(first);
      expect(report.problems).toMatchObject([{ kind: 'conflict' }]);
      expect(report.problems[0]?.message).toContain('src/main.c');
    },
    NEEDS_ROOT,
  );
});

describe('what another user owns', () => {
  test(
    'a directory whose mode cannot be changed: everything is put back, and why is said',
    async () => {
      await using harness = await asNobody();
      const first = await harness.capture();
      harness.sh('chmod 777 src; chown 0 src; echo k > a.txt; chown 65534 a.txt', 'app');
      const after = world(harness, ['app']);
      const { report } = await harness.rollback(first);
      expect(report.outcome).toBe('reverted');
      expect(report.problems).toMatchObject([{ kind: 'failed' }]);
      expect(report.problems[0]?.message).toMatch(/src.*: Operation not permitted/);
      expect(world(harness, ['app'])).toEqual(after);
    },
    NEEDS_ROOT,
  );

  test(
    'a directory whose mode is to stay does not stop a rollback',
    async () => {
      await using harness = await asNobody('chmod 775 src; mkdir -m 1777 src/tmp');
      harness.sh('chown 0 src src/tmp', 'app');
      const before = world(harness, ['app']);
      const first = await harness.capture();
      harness.sh('echo k > a.txt; chmod 600 a.txt; mkdir -m 700 more', 'app');
      harness.sh('chown 65534 more', 'app');
      await applies(harness, first);
      expect(world(harness, ['app'])).toEqual(before);
    },
    NEEDS_ROOT,
  );

  for (const [what, make, path, place] of [
    [
      'a repository',
      'mkdir two; cd two; git init -q; echo q > q; git add -A; git commit -qm q',
      'two',
      'two',
    ],
    ['a repository, from now on', 'chown -R 0 app', 'app', 'app/.agent-shadow/session-s1'],
  ] as const)
    test(
      `${what}: what is to be permitted is said`,
      async () => {
        await using harness = await asNobody();
        await harness.capture();
        harness.sh(make);
        const { report } = await harness.capture();
        expect(report.failures).toEqual([
          {
            path,
            reason: `${harness.root}/${place} cannot be written by user 65534. Walkback keeps its own git directories there: give that user the permission, then call again.`,
          },
        ]);
      },
      NEEDS_ROOT,
    );

  test(
    'what took the permission to write from all files took it from ours, and we take it back',
    async () => {
      await using harness = await asNobody();
      const first = await harness.capture();
      harness.sh('echo k > a.txt; chmod -R a-w .', 'app');
      const after = await harness.capture();
      expect(after.report.failures).toEqual([]);
      harness.sh('chmod -R u+w .git; chmod u+w . src', 'app');
      await applies(harness, first);
    },
    NEEDS_ROOT,
  );
});
