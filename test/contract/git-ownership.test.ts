/** Whose a path is when rules, repositories and directories change under it, and that nothing uncaptured is touched. */
import { existsSync, mkdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import {
  applies,
  goesBackAndForth,
  ONE_FILE,
  text,
  withRepositories,
  world,
} from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-ownership', 8);

describe('rules that change', () => {
  for (const [how, before] of [
    ['added', ''],
    ['appended', '*.log'],
  ] as const)
    test(`an ignore rule ${how} after the checkpoint, which hides files on disk`, async () => {
      await using harness = await withRepositories(['app']);
      if (before !== '') harness.sh(`echo '${before}' > .gitignore`, 'app');
      const first = await harness.capture();
      harness.sh(
        'echo node_modules/ >> .gitignore; mkdir -p node_modules/x/empty; echo k > node_modules/x/k; chmod 600 node_modules/x/k; echo n > n',
        'app',
      );
      const looks = files(harness.root);
      const second = await harness.capture();
      await applies(harness, first);
      expect(existsSync(`${harness.root}/app/n`)).toBe(false);
      expect(text(harness, 'app/node_modules/x/k')).toBe('k\n');
      await applies(harness, second);
      expect(files(harness.root)).toEqual(looks);
      // And there and back once more, with what the older rules show captured by then.
      await harness.capture();
      await applies(harness, first);
      await applies(harness, second);
      expect(text(harness, 'app/node_modules/x/k')).toBe('k\n');
    });

  test('a rule of the target that names an ignored file again', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh("printf '*.log\\n!keep.log\\n' > .gitignore", 'app');
    const first = await harness.capture();
    harness.sh("printf '*.log\\n' > .gitignore; echo k > keep.log; echo o > other.log", 'app');
    await applies(harness, first);
    expect([text(harness, 'app/keep.log'), text(harness, 'app/other.log')]).toEqual(['k\n', 'o\n']);
  });

  test('a deleted file that the target’s index tracks goes, although the target’s rules name it', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('echo k > keep.log; git add keep.log; git commit -qm keep; echo o > other.log', 'app');
    const second = await harness.capture();
    harness.sh("rm keep.log other.log; echo '*.log' > .gitignore", 'app');
    const status = harness.sh('git status --porcelain', 'app');
    const first = await harness.capture();
    await applies(harness, second);
    await harness.capture();
    const { report } = await applies(harness, first);
    expect(existsSync(`${harness.root}/app/keep.log`)).toBe(false);
    expect(text(harness, 'app/other.log')).toBe('o\n');
    expect(report.warnings).toEqual([
      'app: other.log stays, although the checkpoint does not have it: its rules ignore it',
    ]);
    expect(harness.sh('git status --porcelain', 'app')).toBe(status);
  });
});

const IGNORED = 'its rules ignore it';

describe('a repository made inside another one', () => {
  const NEST =
    'cd app/pkg; git init -q -b main .; git add -A; git commit -qm inner; echo i > inner; git add inner';

  const nested = async () => {
    const harness = await withRepositories(['app']);
    harness.sh(
      'mkdir -p pkg/deep; for i in 1 2 3; do echo $i > pkg/deep/$i; done; git add -A; git commit -qm p; echo u > pkg/u',
      'app',
    );
    return harness;
  };

  test('git init in a directory that the outer one captured: the files are the outer one’s again', async () => {
    await using harness = await nested();
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(NEST);
    const after = world(harness, ['app', 'app/pkg']);
    const second = await harness.capture();
    expect(second.repositories.map(({ path }) => path).toSorted()).toEqual(['app', 'app/pkg']);
    const { undo } = await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(before);
    expect(existsSync(`${harness.root}/app/pkg/.git`)).toBe(false);
    await applies(harness, undo);
    expect(world(harness, ['app', 'app/pkg'])).toEqual(after);
    await applies(harness, first);
    await applies(harness, second);
    expect(world(harness, ['app', 'app/pkg'])).toEqual(after);
  });

  test('with files changed in it since, and others deleted', async () => {
    await using harness = await nested();
    const work = async () => {
      harness.sh(`${NEST}; echo changed > u; rm deep/2; echo more > deep/4`);
      await harness.capture();
      harness.sh('echo again > app/pkg/u; echo top > app/f.txt');
    };
    await goesBackAndForth(harness, work, ['app'], ['app', 'app/pkg']);
  });

  test('what the outer one ignored then stays, also when the inner one captured it', async () => {
    await using harness = await withRepositories(['app']);
    harness.sh(
      "echo '*.dat' > .gitignore; mkdir -p vendor/lib; cd vendor/lib; echo v > v; echo old > old.dat",
      'app',
    );
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh('git init -q -b main app/vendor/lib');
    expect((await harness.capture()).repositories).toHaveLength(2);
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
  });

  /** What the outer one did not see, for a reason that no `.gitignore` of its capture gives. */
  const UNSEEN: Record<
    string,
    { make?: string; rule: string; since?: string; path?: string; format?: string; why: string }
  > = {
    'the rules of the user': {
      rule: 'mkdir -p ~/.config/git; echo pkg/ > ~/.config/git/ignore',
      why: IGNORED,
    },
    'a file that core.excludesFile names': {
      rule: 'echo pkg/ > ../../rules; git config core.excludesFile "$(realpath ../../rules)"',
      why: IGNORED,
    },
    'info/exclude of a worktree': {
      make: 'git worktree add -qb tree ../tree; cd ../tree',
      rule: 'echo /pkg/ >> "$(git rev-parse --git-common-dir)/info/exclude"',
      path: 'tree',
      why: IGNORED,
    },
    'a .gitignore that ignores itself': {
      rule: 'mkdir pkg; printf "*\\n" > pkg/.gitignore',
      why: IGNORED,
    },
    'its size': {
      rule: 'mkdir pkg; head -c 3000 /dev/zero > pkg/u; chmod 600 pkg/u',
      since: 'echo small > u',
      why: 'was too large for it',
    },
    'a rule, and the inner one has another object format,': {
      rule: 'echo u > .gitignore; mkdir pkg; echo seen > pkg/seen',
      format: 'sha256',
      why: IGNORED,
    },
  };

  test.for(Object.entries(UNSEEN))(
    'what the outer one did not see by %s stays, and is named',
    async ([, { make = ':', rule, since = ':', path = 'app', format = 'sha1', why }]) => {
      await using harness = await withRepositories(['app'], { maxFileBytes: 1000 });
      harness.sh(`${make}; ${rule}; mkdir -p pkg; [ -e pkg/u ] || echo u > pkg/u`, 'app');
      const first = await harness.capture();
      harness.sh(
        `cd ${path}/pkg; ${since}; git init -q -b main --object-format=${format} .; git add -Af . ":!.agent-shadow"; git commit -qm inner`,
      );
      const looks = files(harness.root);
      const after = world(harness, ['app', `${path}/pkg`]);
      const { undo, report } = await applies(harness, first);
      expect(files(harness.root)).toEqual(looks);
      expect(report.warnings).toContain(
        `${path}/pkg: u stays, although the checkpoint does not have it: ${why}`,
      );
      await applies(harness, undo);
      expect(world(harness, ['app', `${path}/pkg`])).toEqual(after);
    },
  );

  test('what nothing saw before stays when a repository in SHA-256 format goes, and it comes back', async () => {
    await using harness = await createHarness();
    harness.sh('mkdir pkg; echo u > pkg/u');
    const first = await harness.capture();
    harness.sh('cd pkg; git init -q -b main --object-format=sha256 .; git add -A; git commit -qm inner');
    const after = world(harness, ['pkg']);
    const { undo } = await applies(harness, first);
    await applies(harness, undo);
    expect(world(harness, ['pkg'])).toEqual(after);
  });

  test('what the inner one ignores stays when it goes, and is there when it comes back', async () => {
    await using harness = await withRepositories(['.']);
    const first = await harness.capture();
    harness.sh('git init -q -b main sub; cd sub; echo nm/ > .gitignore; mkdir nm; echo x > nm/x; echo s > s');
    const second = await harness.capture();
    await applies(harness, first);
    expect(text(harness, 'sub/nm/x')).toBe('x\n');
    expect(existsSync(`${harness.root}/sub/s`)).toBe(false);
    await harness.capture();
    await applies(harness, second);
    expect(text(harness, 'sub/nm/x')).toBe('x\n');
    expect(text(harness, 'sub/s')).toBe('s\n');
  });

  test('three deep, and the middle one goes', async () => {
    await using harness = await withRepositories(['a']);
    harness.sh('mkdir -p m/n; echo m > m/m; echo n > m/n/n; git add -A; git commit -qm m', 'a');
    const work = () =>
      harness.sh('git init -q a/m/n; git init -q a/m; echo 2 > a/m/m; echo 2 > a/m/n/n; rm a/f.txt');
    await goesBackAndForth(harness, work, ['a'], ['a', 'a/m', 'a/m/n'], true);
    expect((await harness.capture()).repositories).toHaveLength(3);
  });

  test('a failure after it was set aside brings it back', async () => {
    await using harness = await nested();
    const first = await harness.capture();
    harness.sh(
      `${NEST}; git tag keep; echo changed > u; cd ..; git checkout -qb topic; git commit -q --allow-empty -m t`,
    );
    const after = world(harness, ['app', 'app/pkg']);
    mkdirSync(`${harness.root}/app/.git/refs/heads/topic.lock`);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    expect(report.problems.map(({ path }) => path)).toEqual(['app']);
    expect(world(harness, ['app', 'app/pkg'])).toEqual(after);
    expect(harness.sh('git tag', 'app/pkg')).toBe('keep\n');
  });
});

describe('a repository made of a directory that was none', () => {
  test('its older files stay when it goes, also when they were changed, and those made since go', async () => {
    await using harness = await withRepositories(['a']);
    harness.sh('mkdir -p docs/old; echo n > notes.md; echo p > docs/p.txt; echo q > docs/q; mkdir docs/e');
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh(
      'git init -q -b main docs; git init -q -b main .; echo new > docs/new; echo z > z; cp notes.md again',
    );
    const after = world(harness, ['.', 'a', 'docs']);
    const second = await harness.capture();
    expect(second.repositories.map(({ path }) => path).toSorted()).toEqual(['.', 'a', 'docs']);
    const { undo } = await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
    await applies(harness, undo);
    expect(world(harness, ['.', 'a', 'docs'])).toEqual(after);
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
  });
});

describe('a directory where a repository was', () => {
  test('what stands there is captured first, and comes back on undo', async () => {
    await using harness = await withRepositories(['a']);
    const first = await harness.capture();
    harness.sh(`mkdir b; cd b; ${ONE_FILE}`);
    const before = world(harness, ['a', 'b']);
    const second = await harness.capture();
    await applies(harness, first);
    harness.sh('mkdir b; echo precious > b/important.txt; echo mine > b/f.txt');
    const after = world(harness, ['a']);
    await harness.capture();
    const { undo } = await applies(harness, second);
    expect(world(harness, ['a', 'b'])).toEqual(before);
    await applies(harness, undo);
    expect(world(harness, ['a'])).toEqual(after);
    expect(existsSync(`${harness.root}/b/.git`)).toBe(false);
  });

  test('and is put back when the rollback fails', async () => {
    await using harness = await withRepositories(['a']);
    const first = await harness.capture();
    harness.sh(
      `mkdir b; cd b; ${ONE_FILE}; cd ../a; git checkout -qb topic; git commit -q --allow-empty -m t`,
    );
    const second = await harness.capture();
    await applies(harness, first);
    harness.sh('mkdir b; echo precious > b/important.txt; echo mine > b/f.txt');
    const after = world(harness, ['a']);
    mkdirSync(`${harness.root}/a/.git/refs/heads/topic.lock`);
    expect((await harness.rollback(second)).report.outcome).toBe('reverted');
    expect(world(harness, ['a'])).toEqual(after);
  });
});
