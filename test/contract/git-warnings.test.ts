/** A warning of git that is not known fails the capture of that repository, whichever command it comes from (C5). */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { applies, rebuilds, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-warnings');

/** A git that warns of something new when its subcommand is the one in the file `warns`, and does its work. */
const warningGit = () => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-warnings-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const shim = `#!/bin/bash
words=("$@") word=
while [ $# -gt 0 ]; do case $1 in -c | -C) shift ;; -*) ;; *) word=$1 && break ;; esac; shift; done
echo "$word" >>${directory}/log
if [ "$word" = "$(cat ${directory}/warns 2>/dev/null)" ]; then echo 'warning: the moon is full' >&2; fi
PATH=\${PATH#*:} exec git "\${words[@]}"
`;
  writeFileSync(join(directory, 'git'), shim);
  chmodSync(join(directory, 'git'), 0o755);
  return {
    env: { PATH: `${directory}:${process.env['PATH'] ?? ''}` },
    warn: (command: string) => writeFileSync(join(directory, 'warns'), command),
    /** The subcommands that `act` started. */
    during: async (act: () => Promise<unknown>): Promise<string[]> => {
      rmSync(join(directory, 'log'), { force: true });
      await act();
      return [...new Set(readFileSync(join(directory, 'log'), 'utf8').trim().split('\n'))];
    },
  };
};

const MAKE = `mkdir app; cd app; git init -q -b main .; echo '.env' > .gitignore; echo s > .env; echo 1 > a; git add .; git commit -qm one
git branch other; git switch -qc topic; echo 2 > a; git commit -qam two; git switch -q main; echo 3 > a; git commit -qam three; git merge topic >/dev/null || true
echo x > x; git add -N x; echo y > y; git add y; git update-index --assume-unchanged y`;

test('is told once, whichever command of a capture it comes from', async () => {
  const git = warningGit();
  await using harness = await createHarness({ env: git.env, include: ['.env'] });
  harness.sh(MAKE);
  const commands = await git.during(async () => {
    const { report } = await harness.capture();
    expect(report.failures).toEqual([]);
  });
  const silent: string[] = [];
  for (const command of commands) {
    git.warn(command);
    harness.sh('rm -rf .agent-shadow app/.agent-shadow');
    harness.standOn(undefined);
    const { report } = await harness.capture();
    const told = report.failures.filter(({ reason }) =>
      /the moon is full|branch cannot be read/.test(reason),
    );
    if (told.length !== 1) silent.push(`${command}: ${told.length}`);
  }
  expect(silent).toEqual([]);
  expect(commands).toContain('check-ignore');
});

/** What git only complains of: it reads the objects where they are. */
const DANGLING = {
  'leads nowhere': 'echo /nowhere/objects >>.git/objects/info/alternates',
  'leads nowhere, by a relative path': 'echo ../../../nowhere/objects >>.git/objects/info/alternates',
  'leads to a file': ': >../../file; echo "$(cd ../..; pwd)/file" >>.git/objects/info/alternates',
};

test.for(Object.entries(DANGLING))(
  'where a line of alternates %s, commits go back, and come again',
  async ([, dangle]) => {
    await using harness = await withTwoFiles(['app']);
    const looks = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(
      'git checkout -qb topic; echo more >a.txt; echo new >new; git add .; git commit -qm more',
      'app',
    );
    harness.sh(dangle, 'app');
    const second = await harness.capture(first);
    expect(second.report.failures).toEqual([]);
    const later = world(harness, ['app']);
    await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(looks);
    await applies(harness, second);
    expect(world(harness, ['app'])).toEqual(later);
    await rebuilds(harness, second);
  },
);

test('a shared clone with objects of its own, whose source is gone, goes back, and comes again', async () => {
  await using harness = await createHarness();
  harness.sh(
    'git init -qb main ../source; cd ../source; for n in 1 2 3; do echo $n >f; git add f; git commit -qm $n; done; git clone -q --shared . ../projects/app; git -C ../projects/app repack -qad',
  );
  const looks = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh('rm -rf ../../source; echo 4 >f; git commit -qam 4 2>/dev/null', 'app');
  const { undo } = await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(looks);
  await applies(harness, undo);
  expect(harness.sh('cat f; git log --format=%s', 'app')).toBe('4\n4\n3\n2\n1\n');
});
