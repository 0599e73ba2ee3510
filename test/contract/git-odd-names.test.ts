/** Repositories and files whose names are hard to say, and places that are not ours. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import {
  applies,
  goesBackAndForth,
  ONE_FILE,
  rebuilds,
  TWO_FILES,
  withTwoFiles,
} from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-odd-names');

/** As bash writes them. Some of them, others each time; all of them in `npm run test:long`. */
const NAMES = {
  'a newline': `$'new\\nline'`,
  'a newline at its end': `$'end\\n'`,
  'a byte that is not UTF-8': `$'caf\\xe9'`,
  'UTF-8 and what is not': `$'caf\\xc3\\xa9-\\xff'`,
  'what reads like such a byte': `'a\\xe9'`,
  'a backslash, quotes and a dollar': `'a\\b"c'\\''$(id)'`,
  'a quote in front': `'"quoted'`,
  'a number sign and a carriage return': `$'#a\\r'`,
};

const ROOTS = {
  'a backslash': 'a\\b',
  'a colon': 'a:b',
  'a quote': '"a"b',
  'a space and a dollar': ' a $(id) ',
  'a pattern': '[a]*?',
  'a dash in front': '-a',
  'a percent sign': '%s%20',
  'wide characters': '日本é',
};

const CHOSEN = sampled(Object.entries(NAMES), { every: 6, offset: printedSeed('odd names') });

/** `name` of the repository, as bash reads it. */
const goesAndComesBack = async (harness: Harness, name: string): Promise<void> => {
  harness.sh(`mkdir ${name}; cd ${name}; ${TWO_FILES}; mkdir empty; chmod 600 a.txt`);
  const state = () => [
    ...files(harness.root),
    harness.sh(`cd ${name}; git status --porcelain; git rev-parse HEAD; git fsck 2>&1`),
  ];
  const work = () =>
    harness.sh(`cd ${name}; echo two > a.txt; rmdir empty; echo n > n; git add n; git commit -qm n`);
  const { looked: before, first } = await goesBackAndForth(harness, work, state);
  expect(first.report.failures).toEqual([]);
  expect(first.repositories).toMatchObject([{ state: 'captured' }]);
  const unchanged = await harness.capture();
  expect(unchanged.repositories).toMatchObject([{ state: 'captured', changed: false }]);

  await rebuilds(harness, first);
  expect(state()).toEqual(before);
};

test.each(Object.entries(ROOTS))('a projects root whose name holds %s', async (_, projects) => {
  await using harness = await createHarness({ projects });
  await goesAndComesBack(harness, 'app');
});

test.each(CHOSEN)('a repository whose name holds %s', async (_, name) => {
  await using harness = await createHarness();
  await goesAndComesBack(harness, name);
});

test('a nested repository with a newline hides only itself', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    `mkdir $'n\\nm' nXm; (cd $'n\\nm' && ${ONE_FILE}); echo beside > nXm/f; mkdir $'c\\rm' cXm; (cd $'c\\rm' && ${ONE_FILE}); echo beside > cXm/f`,
    'app',
  );
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  expect(first.repositories.map(({ path }) => path).toSorted()).toEqual(['app', 'app/c\rm', 'app/n\nm']);
  const before = files(harness.root);
  harness.sh(`rm -rf nXm cXm; echo two > $'n\\nm/f.txt'`, 'app');
  await applies(harness, first);
  expect(files(harness.root)).toEqual(before);
});

test('names that only other systems take for .git are captured; what git refuses is named and left alone', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    `mkdir 'git~1' 'a\\.git' sub .GIT; echo 1 > git~1/x; echo 2 > 'a\\.git/y'; echo 3 > .GIT/z; ln -s a.txt sub/.gitmodules; echo 4 > sub/f`,
    'app',
  );
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  expect(first.report.skipped.map(({ path }) => path).toSorted()).toEqual([
    'app/.GIT',
    'app/sub/.gitmodules',
  ]);
  for (const { reason } of first.report.skipped) expect(reason).toMatch(/rename/);
  const before = files(harness.root);
  harness.sh(`rm -r 'git~1' 'a\\.git' sub/f; echo 5 > .GIT/z`, 'app');
  await applies(harness, first);
  expect(files(harness.root).filter((line) => !/GIT/.test(line))).toEqual(
    before.filter((line) => !/GIT/.test(line)),
  );
  expect(harness.sh('cat .GIT/z; readlink sub/.gitmodules', 'app')).toBe('5\na.txt\n');
});

test('a .gitmodules that becomes a symlink is not captured as it was', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('echo x > .gitmodules', 'app');
  await harness.capture();
  harness.sh('ln -sf a.txt .gitmodules', 'app');
  const second = await harness.capture();
  expect(second.report.skipped.map(({ path }) => path)).toEqual(['app/.gitmodules']);
  expect(
    harness.sh(
      `git --git-dir=.agent-shadow/session-s1 ls-tree --name-only ${second.repositories[0]?.tree}`,
      'app',
    ),
  ).toBe('a.txt\nsrc\n');
});

test('an .agent-shadow that is not ours is named, with what to do', async () => {
  await using harness = await withTwoFiles(['app', 'web']);
  writeFileSync(`${harness.root}/app/.agent-shadow`, 'mine');
  const { report } = await harness.capture();
  expect(report.failures).toEqual([
    {
      path: 'app',
      reason: expect.stringMatching(/app\/\.agent-shadow is not a directory.*rename or remove it/),
    },
  ]);
  harness.sh('rm -rf .agent-shadow');
  symlinkSync('/tmp', `${harness.root}/.agent-shadow`);
  await expect(harness.capture()).rejects.toMatchObject({
    name: 'SandboxUnsupported',
    retryable: false,
    message: expect.stringMatching(/\.agent-shadow is a symlink.*rename or remove it/),
  });
});
