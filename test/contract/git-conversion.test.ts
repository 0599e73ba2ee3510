/** Settings that git's own reading of the files depends on: a copy has them. A setting that names a command is never taken along. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { applies, rebuilds, withRepositories } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-conversion');

const STATUS = 'git --no-optional-locks status --porcelain';
const MAKE = `git init -q -b main .; mkdir src; printf 'a\\nb\\n' >a.txt; printf 'c\\nd\\n' >src/c.txt; git add -A; git commit -qm one`;
const AGAIN = 'rm a.txt src/c.txt; git checkout -q -- a.txt src/c.txt';

/** The settings of the repository alone, without those that git init writes. */
const settings = (harness: Harness): string =>
  harness.sh(
    `git config --local --list | grep -vE '^(core.(repositoryformatversion|bare|logallrefupdates)|core.filemode=true)' | sort`,
    'app',
  );

test.for([
  ['autocrlf', `git config core.autocrlf true; ${AGAIN}`, 'core.autocrlf=true\n'],
  [
    'autocrlf input',
    `printf 'a\\r\\nb\\r\\n' >a.txt; git config core.autocrlf INPUT; git add a.txt 2>/dev/null`,
    'core.autocrlf=input\n',
  ],
  ['autocrlf false', 'git config core.autocrlf off', 'core.autocrlf=false\n'],
  [
    'eol',
    `echo '*.txt text' >.gitattributes; git add .gitattributes; git commit -qm x; git config core.eol crlf; ${AGAIN}`,
    'core.eol=crlf\n',
  ],
  ['no modes', 'git config core.fileMode no; chmod 755 a.txt', 'core.filemode=false\n'],
  [
    'no links',
    `ln -s a.txt link; git add link; git commit -qm link; git config core.symlinks false; rm link; printf a.txt >link`,
    'core.symlinks=false\n',
  ],
  [
    'a name without a value',
    `printf '[core]\\n\\tautocrlf\\n' >>.git/config; ${AGAIN}`,
    'core.autocrlf=true\n',
  ],
  [
    'the last of several, in the settings of the worktree',
    `git config core.autocrlf input; git config extensions.worktreeConfig true; git config --worktree core.autocrlf true; ${AGAIN}`,
    'core.autocrlf=true\n',
  ],
] as const)('%s: git says the same of a copy', async ([, set, expected]) => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  harness.sh(set, 'app');
  const status = harness.sh(STATUS, 'app');
  const files = harness.sh('sha256sum a.txt src/c.txt', 'app');
  const first = await harness.capture();
  await rebuilds(harness, first);
  expect(harness.sh(STATUS, 'app')).toBe(status);
  expect(harness.sh('sha256sum a.txt src/c.txt', 'app')).toBe(files);
  expect(settings(harness)).toBe(expected);
  // What the copy is captured as is what it was made of.
  const again = await harness.capture();
  expect(again.repositories.map(({ tree, meta }) => [tree, meta])).toEqual(
    first.repositories.map(({ tree, meta }) => [tree, meta]),
  );
});

test('attributes of the repository alone are those of a copy', async () => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  harness.sh(`echo '*.txt text eol=crlf' >.git/info/attributes; ${AGAIN}`, 'app');
  const status = harness.sh(STATUS, 'app');
  await rebuilds(harness, await harness.capture());
  expect(harness.sh(STATUS, 'app')).toBe(status);
  expect(harness.sh('cat .git/info/attributes', 'app')).toBe('*.txt text eol=crlf\n');
});

test('settings and attributes that change nothing add nothing to a capture', async () => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  const first = await harness.capture();
  harness.sh(
    'git config core.fileMode on; git config core.ignoreCase false; git config core.symlinks true; git config core.abbrev 9; mkdir -p .git/info; : >.git/info/attributes',
    'app',
  );
  const second = await harness.capture();
  expect(second.repositories[0]?.meta).toBe(first.repositories[0]?.meta);
});

/** Each of these would run `touch ran`, or reach out of the repository. */
const HOSTILE = [
  `git config core.autocrlf '$(touch ran)'`,
  `printf '[core]\\n\\teol = "crlf\\\\nfsmonitor=touch ran"\\n' >>.git/config`,
  'git config core.fsmonitor "touch ran"; git config core.sshCommand "touch ran"; git config core.hooksPath hooks; git config core.attributesFile /etc/passwd',
  'git config diff.x.textconv "touch ran"; git config credential.helper "!touch ran"; git config alias.status "!touch ran"; git config core.pager "touch ran"',
  'git config include.path ../other; printf "[core]\\n\\tautocrlf = true\\n" >other',
  'git config core.fileMode maybe',
  'git config filter.x.clean "touch ran"; git config filter.x.process "touch ran"; git config filter.x.required true',
];
test.for(HOSTILE)('no other setting and no other value is taken along: %s', async (set) => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  harness.sh(`echo '*.none filter=x' >.git/info/attributes; ${set}`, 'app');
  const { outcome } = await harness.rehydrate(await harness.capture());
  expect(outcome).toBe('applied');
  expect(settings(harness)).toBe('');
  expect(existsSync(`${harness.root}/app/ran`)).toBe(false);
});

test('attributes behind a link, or far too many, stay where they are', async () => {
  await using harness = await withRepositories(['app', 'big'], {}, MAKE);
  harness.sh(
    'echo "*.txt -text" >../secret; ln -s "$PWD/../secret" app/.git/info/attributes || { mkdir app/.git/info; ln -s "$PWD/../secret" app/.git/info/attributes; }',
  );
  harness.sh('mkdir -p .git/info; yes "*.txt text" | head -c 2000000 >.git/info/attributes', 'big');
  await rebuilds(harness, await harness.capture());
  expect(['app', 'big'].map((name) => existsSync(`${harness.root}/${name}/.git/info/attributes`))).toEqual([
    false,
    false,
  ]);
});

const FILTER = `git config filter.lfs.clean 'sed s/big/pointer/'; git config filter.lfs.smudge 'sed s/pointer/big/'
echo '*.bin filter=lfs' >.gitattributes; echo big >a.bin; echo big >b.bin; git add -A; git commit -qm lfs`;

test('a filter that a copy lacks is named, with the way to set it up', async () => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  harness.sh(FILTER, 'app');
  expect(harness.sh(STATUS, 'app')).toBe('');
  const first = await harness.capture();
  const { warnings } = await harness.rehydrate(first);
  expect(warnings).toEqual([
    expect.stringMatching(
      /filter lfs is not set here, so git shows 2 of its files as modified, such as a.bin: set it up with git lfs install --local$/,
    ),
  ]);
  expect(readFileSync(`${harness.root}/app/a.bin`, 'utf8')).toBe('big\n');
  expect(harness.sh(`${STATUS} | cut -c4-`, 'app')).toBe('a.bin\nb.bin\n');
  harness.sh(FILTER.split('\n')[0] ?? '', 'app');
  expect(harness.sh(`git add -u; ${STATUS}`, 'app')).toBe('');
  // A rollback in place keeps the settings, so there is nothing to say.
  const { report } = await applies(harness, first);
  expect(report.warnings).toEqual([]);
});

test('a filter of the user, or one that no file differs by, is not named', async () => {
  await using harness = await withRepositories(['app'], {}, MAKE);
  harness.sh(`echo 'src/* filter=unused' >.gitattributes; git add -A; git commit -qm x`, 'app');
  expect((await harness.rehydrate(await harness.capture())).warnings).toEqual([]);
  harness.sh(`${FILTER}; git config --global filter.lfs.clean 'sed s/big/pointer/'`, 'app');
  expect((await harness.rehydrate(await harness.capture())).warnings).toEqual([]);
});
