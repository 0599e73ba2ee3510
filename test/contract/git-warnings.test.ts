/** A warning of git that is not known fails the capture of that repository, whichever command it comes from (C5). */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

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
  for (const command of sampled(commands, { every: 4, offset: printedSeed('git-warnings'), minimum: 2 })) {
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
  expect(commands.length).toBeGreaterThan(8);
});
