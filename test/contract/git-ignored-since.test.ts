/** What is ignored is not captured, whatever was captured before; and what no capture holds is not touched (C2). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import type { Harness, Snapshot } from '../support/git-harness.ts';
import { applies, withTwoFiles } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-ignored-since');

const captured = (harness: Harness, snapshot: Snapshot): string[] =>
  harness
    .sh(
      `git --git-dir=.agent-shadow/session-s1 ls-tree -r --name-only ${snapshot.repositories[0]?.tree}`,
      'app',
    )
    .trimEnd()
    .split('\n');

/** Each way to have git ignore `.env`: two of them, others each time; all of them in `npm run test:long`. */
const RULES = {
  'a .gitignore': 'echo .env > .gitignore',
  'a .gitignore in a folder':
    'mkdir -p src; echo "/secret" > src/.gitignore; mv .env src/secret; echo .env > .gitignore',
  'the repository alone': 'echo .env > .git/info/exclude',
  'the user': 'mkdir -p ~/.config/git; echo .env > ~/.config/git/ignore',
};

test.each(sampled(Object.entries(RULES), { every: 4, offset: printedSeed('ignored since') }))(
  'a secret that is ignored since leaves the captures: by %s',
  async (_, rule) => {
    await using harness = await withTwoFiles(['app']);
    const before = await harness.capture();
    harness.sh('echo TOKEN=1 > .env', 'app');
    const seen = await harness.capture();
    expect(captured(harness, seen)).toContain('.env');

    harness.sh(`${rule}; [ ! -e .env ] || echo TOKEN=2 > .env`, 'app');
    const secret = existsSync(`${harness.root}/app/.env`) ? 'app/.env' : 'app/src/secret';
    const content = readFileSync(`${harness.root}/${secret}`, 'utf8');
    const ignored = await harness.capture();
    expect(captured(harness, ignored).filter((path) => /env|secret/.test(path))).toEqual([]);
    expect(captured(harness, await harness.capture()).filter((path) => /env|secret/.test(path))).toEqual([]);

    // Neither deleted nor moved by a rollback to a time when it was not there.
    await applies(harness, before);
    expect(readFileSync(`${harness.root}/${secret}`, 'utf8')).toBe(content);
    await applies(harness, ignored);
    expect(readFileSync(`${harness.root}/${secret}`, 'utf8')).toBe(content);
  },
);

test('one that the target holds is captured before it is overwritten, this once', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('echo old > .env', 'app');
  const holds = await harness.capture();
  harness.sh('echo .env > .git/info/exclude; echo new > .env', 'app');
  await harness.capture();
  const { undo } = await applies(harness, holds);
  expect(readFileSync(`${harness.root}/app/.env`, 'utf8')).toBe('old\n');
  expect(captured(harness, undo)).toContain('.env');
  expect(captured(harness, await harness.capture())).not.toContain('.env');
  await applies(harness, undo);
  expect(readFileSync(`${harness.root}/app/.env`, 'utf8')).toBe('new\n');
  expect(captured(harness, await harness.capture())).not.toContain('.env');
});

test('a plan captures nothing for good', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('echo old > .env', 'app');
  const holds = await harness.capture();
  harness.sh('echo .env > .gitignore', 'app');
  const { report } = await harness.rollback(holds, { dryRun: true });
  expect(report.outcome).toBe('planned');
  expect(captured(harness, await harness.capture())).not.toContain('.env');
});

test('what the host tracks although it is ignored, and what the session asks for, stay captured', async () => {
  await using harness = await withTwoFiles(['app'], { include: ['kept/**'] });
  harness.sh(
    'mkdir kept; echo k > kept/k; echo t > tracked; echo s > secret; git add tracked; git commit -qm t',
    'app',
  );
  await harness.capture();
  harness.sh('printf "kept/\\ntracked\\nsecret\\n" > .gitignore', 'app');
  const now = captured(harness, await harness.capture());
  expect(now).toEqual(['.gitignore', 'a.txt', 'kept/k', 'src/main.c', 'tracked']);
  // No longer tracked, it is ignored like any other.
  harness.sh('git rm -q --cached tracked', 'app');
  expect(captured(harness, await harness.capture())).not.toContain('tracked');
  // And not ignored any longer, it is captured again.
  harness.sh('echo nothing > .gitignore', 'app');
  expect(captured(harness, await harness.capture())).toEqual(expect.arrayContaining(['tracked', 'secret']));
});

test('files that a checkpoint left out for their size stay, however many there are and whatever their size is now', async () => {
  await using harness = await withTwoFiles(['app'], { maxFileBytes: 1000 });
  const names = Array.from({ length: 120 }, (_, index) => `big-${index}`);
  for (const name of names) writeFileSync(`${harness.root}/app/${name}`, 'x'.repeat(2000));
  const target = await harness.capture();
  expect(target.report.skipped).toHaveLength(120);
  for (const name of names) writeFileSync(`${harness.root}/app/${name}`, 'small');
  harness.sh('echo new > new', 'app');
  await harness.capture();
  const { report } = await harness.rollback(target);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(names.filter((name) => !existsSync(`${harness.root}/app/${name}`))).toEqual([]);
  expect(existsSync(`${harness.root}/app/new`)).toBe(false);
});

/** What comes into a directory that was captured as an empty one, and by which rule nobody sees it. */
const FILLED = {
  'a file, by a rule of then and now': ["echo '*.log' > .gitignore", 'echo 1 > d/x.log'],
  'a folder, by a rule of the repository alone': [
    'true',
    'echo d/ > .git/info/exclude; mkdir d/e; echo 1 > d/e/x',
  ],
  'an empty folder, by the same': ['true', 'echo d/ > .git/info/exclude; mkdir d/e'],
  'a file, by a rule that the rollback takes away': [
    'true',
    'echo d/ > .gitignore; echo 1 > d/x; echo two > a.txt',
  ],
  'a file, by a rule of the user': [
    'true',
    'mkdir -p ~/.config/git; echo d/ > ~/.config/git/ignore; echo 1 > d/x',
  ],
};

test.each(Object.entries(FILLED))(
  'a rollback to a time when a directory was empty leaves what is ignored in it by now: %s',
  async (_, [then, since]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(`${then}; mkdir d`, 'app');
    const empty = await harness.capture();
    harness.sh(`${since}`, 'app');
    const inside = () => files(`${harness.root}/app/d`);
    const filled = inside();
    const all = files(harness.root);
    const { undo } = await applies(harness, empty);
    expect(inside()).toEqual(filled);
    await applies(harness, undo);
    expect(files(harness.root)).toEqual(all);
  },
);

test('a directory that was empty is not proven by what else was written into it meanwhile', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('echo "*.log" > .gitignore; mkdir d', 'app');
  const empty = await harness.capture();
  harness.sh('rmdir d; echo two > a.txt', 'app');
  const { report } = await harness.rollback(empty, {
    around: async (restore) => {
      harness.sh('mkdir d; echo 1 > d/x.log; echo 1 > d/captured', 'app');
      return restore();
    },
  });
  expect(report.outcome).not.toBe('applied');
  expect(readFileSync(`${harness.root}/app/d/captured`, 'utf8')).toBe('1\n');
});

/** How older rules, which come back, show what the rules of now ignore. */
const SHOWN: Record<string, [string, string]> = {
  'they say that it is not ignored': ["echo '!d/' > .gitignore", 'echo d/ > .gitignore'],
  'it is too much for a list of rules': [
    'true',
    'echo "*.o" > .gitignore; for i in {1..2100}; do : > $i.o; done; mkdir d.o',
  ],
};

test.each(Object.entries(SHOWN))(
  'modes and empty directories that only the rules of now ignore do not stop a rollback: %s',
  async (_, [then, since]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(then, 'app');
    const before = await harness.capture();
    harness.sh(
      `${since}; mkdir -p d d.o/empty; mv d.o d/; echo 1 > d/private.o; chmod 600 d/private.o`,
      'app',
    );
    const ignored = files(`${harness.root}/app/d`);
    await applies(harness, before);
    expect(files(`${harness.root}/app/d`)).toEqual(ignored);
  },
);
