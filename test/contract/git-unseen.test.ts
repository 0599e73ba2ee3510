/**
 * Files that the state to go to does not have, and that may have been there all the same, unseen: none of them is deleted, and each
 * is named, however the state is gone to: whole, in some paths, by a revert or by a merge.
 */
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { asNobody, NEEDS_ROOT } from '../support/needs-root.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-unseen', 8);

const BEGIN =
  'git init -q -b main r; cd r; echo a > a; mkdir -p in; echo b > in/b; git add -A; git commit -qm a';

/** `before`: the file is there and not captured. `since`: it is captured, and so is `new`. */
interface Unseen {
  what: string;
  before: string;
  since: string;
  why?: string;
  include?: string[];
  /** Others that stay. */
  also?: string[];
}

/** The modes of it and of its directory are for its user alone. */
const PRIVATE = 'mkdir -p secret; chmod 700 secret; echo secret > secret/key; chmod 600 secret/key';
const FORCED = `git add -f secret/key; git commit -qm forced`;
const IGNORED = 'its rules ignore it';

const UNSEEN: Unseen[] = [
  {
    what: 'a file that was too large',
    before: `mkdir -p secret; chmod 700 secret; head -c 3000 /dev/zero > secret/key; chmod 600 secret/key`,
    since: 'echo small > secret/key',
    why: 'was too large for it',
  },
  {
    what: 'an ignored file that the rules do not name any more',
    before: `echo key > .gitignore; git add -A; git commit -qm i; ${PRIVATE}`,
    since: `git rm -q .gitignore; git add -A; git commit -qm comes`,
  },
  {
    what: 'a file in an ignored directory that the rules do not name any more',
    before: `echo /secret/ > .gitignore; git add -A; git commit -qm i; ${PRIVATE}`,
    since: `git rm -q .gitignore; git add -A; git commit -qm comes`,
  },
  {
    what: 'an ignored file that git was told to add all the same',
    before: `echo key > .gitignore; git add -A; git commit -qm i; ${PRIVATE}`,
    since: FORCED,
  },
  {
    what: 'a file in a directory whose rules ignore themselves, which git was told to add all the same',
    before: `${PRIVATE}; echo '*' > secret/.gitignore`,
    since: 'git add -f secret; git commit -qm forced',
    also: ['secret/.gitignore'],
  },
  {
    what: 'a file that info/exclude names, which git was told to add all the same',
    before: `echo key > .git/info/exclude; ${PRIVATE}`,
    since: FORCED,
  },
  {
    what: 'a file that the rules of the user name, which git was told to add all the same',
    before: `mkdir -p ~/.config/git; echo key > ~/.config/git/ignore; ${PRIVATE}`,
    since: FORCED,
  },
];

/** What is captured now and was not there then, although something above says so of others. */
const GOES: Unseen[] = [
  {
    what: 'a file that nothing ignored',
    before: `echo other > .gitignore; git add -A; git commit -qm i`,
    since: PRIVATE,
  },
  {
    what: 'an ignored file that the index then had, and that was not there',
    before: `echo key > .gitignore; git add -A; ${PRIVATE}; git add -f secret/key; git commit -qm i; rm -r secret`,
    since: PRIVATE,
  },
  {
    what: 'an ignored file that the session asks for by name',
    before: `echo key > .gitignore; git add -A; git commit -qm i`,
    since: `${PRIVATE}; git rm -qf .gitignore; git commit -qm unruled`,
    include: ['secret/*'],
  },
  {
    what: 'a file where a directory is to come',
    before: `echo key > .gitignore; git add -A; git commit -qm i; mkdir -p secret/key; echo in > secret/key/in; git add -f secret/key/in; git commit -qm in`,
    since: `git rm -qr secret .gitignore; ${PRIVATE}; git add -A; git commit -qm file`,
  },
];

const WAYS: Record<string, (harness: Harness, first: Snapshot, second: Snapshot) => Promise<string[]>> = {
  'a rollback': async (harness, first) => {
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    return report.warnings;
  },
  'a rollback of some paths': (harness, first, second) =>
    composed(harness, { base: second, theirs: first }, { own: true, paths: { r: ['secret', 'new'] } }),
  'a rollback of the file alone': (harness, first, second) =>
    composed(harness, { base: second, theirs: first }, { own: true, paths: { r: ['secret/key', 'new'] } }),
  'a revert, with later work': async (harness, first, second) => {
    harness.sh('cd r; echo later > later; git add later; git commit -qm later');
    await harness.capture();
    return composed(harness, { base: second, theirs: first }, { own: true });
  },
};

const composed = async (
  harness: Harness,
  step: { base: Snapshot; theirs: Snapshot },
  flags: Parameters<Harness['compose']>[1],
): Promise<string[]> => {
  const { report, merged } = await harness.compose([step], flags);
  expect([report.conflicts, report.failures, report.unknownPaths]).toEqual([[], [], []]);
  const plan = (await harness.rollback(merged, { dryRun: true })).report;
  const gone = (await harness.rollback(merged)).report;
  expect([gone.outcome, gone.problems]).toEqual(['applied', []]);
  expect(gone.warnings).toEqual(plan.warnings);
  return [...report.warnings, ...gone.warnings];
};

const between = async ({ before, since, include = [] }: Unseen) => {
  const harness = await createHarness({ maxFileBytes: 1000, include });
  harness.sh(BEGIN);
  harness.sh(`cd r; ${before}`);
  const first = await harness.capture();
  harness.sh(`cd r; ${since}; echo new > new`);
  const second = await harness.capture();
  return { harness, first, second };
};

const LOOK = 'cd r; ls new 2>/dev/null || :; cat secret/key; stat -c "%a %n" secret secret/key';

describe.for(Object.entries(WAYS))('%s leaves', ([way, go]) => {
  for (const one of UNSEEN) {
    test(one.what, async () => {
      const { harness, first, second } = await between(one);
      await using _ = harness;
      const now = harness.sh(LOOK);
      expect(now).toContain('new\n');
      const warnings = await go(harness, first, second);
      expect(harness.sh(LOOK)).toBe(now.replace('new\n', ''));
      const staying = way === 'a rollback of the file alone' ? [] : (one.also ?? []);
      expect(warnings).toEqual(
        [...staying, 'secret/key'].map(
          (path) => `r: ${path} stays, although the checkpoint does not have it: ${one.why ?? IGNORED}`,
        ),
      );
    });
  }
});

describe.for(Object.entries(WAYS))('%s takes away', ([, go]) => {
  for (const one of GOES) {
    test(one.what, async () => {
      const { harness, first, second } = await between(one);
      await using _ = harness;
      await go(harness, first, second);
      expect(harness.sh('cd r; ls -l new 2>/dev/null || [ ! -f secret/key ] || cat secret/key')).toBe('');
    });
  }
});

test('what a rollback brought goes with its undo, ignored or not', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  harness.sh(`cd r; echo key > .gitignore; git add .gitignore; ${PRIVATE}; ${FORCED}`);
  const first = await harness.capture();
  harness.sh('cd r; git rm -q secret/key; git commit -qm gone');
  await harness.capture();
  const { undo } = await harness.rollback(first);
  expect(harness.sh('cd r; cat secret/key; git status --short')).toBe('secret\n');
  const { report } = await harness.rollback(undo);
  expect([report.outcome, report.warnings]).toEqual(['applied', []]);
  expect(harness.sh('cd r; ls -d secret 2>/dev/null || :; git status --short')).toBe('');
});

test(
  'what could not be read when it stood in the way of a rollback was there all the same',
  async () => {
    await using harness = await asNobody('mkdir s; echo then > s/key; git add -A; git commit -qm s');
    const own = 'chown -R nobody . ..';
    harness.sh('git config --global safe.directory "*"');
    const first = await harness.capture();
    harness.sh(
      `echo key > .gitignore; git rm -q --cached s/key; git add .gitignore; git commit -qm i; echo mine > s/key; ${own}; chmod 000 s/key`,
      'app',
    );
    const { undo, report } = await harness.rollback(first);
    expect(report.problems).toMatchObject([{ kind: 'conflict' }]);
    harness.standOn(undo);
    harness.sh(`chmod 600 s/key; git rm -q .gitignore; git add -A; git commit -qm comes; ${own}`, 'app');
    const { outcome, warnings } = (await harness.rollback(undo)).report;
    expect([outcome, warnings]).toEqual([
      'applied',
      [`app: s/key stays, although the checkpoint does not have it: ${IGNORED}`],
    ]);
    expect(harness.sh('cat s/key', 'app')).toBe('mine\n');
  },
  NEEDS_ROOT,
);

test('a revert does not say that a file stays which went since', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  harness.sh(`cd r; echo key > .gitignore; git add .gitignore; git commit -qm i; ${PRIVATE}`);
  const first = await harness.capture();
  harness.sh(`cd r; git rm -q .gitignore; git add -A; git commit -qm comes; echo new > new`);
  const second = await harness.capture();
  harness.sh('cd r; git rm -q secret/key; git commit -qm later');
  await harness.capture();
  expect(await composed(harness, { base: second, theirs: first }, { own: true })).toEqual([]);
  expect(harness.sh('cd r; ls -d new secret 2>/dev/null || :')).toBe('');
});

test('a merge leaves an untracked file that the other side ignores', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  harness.sh(`cd r; ${PRIVATE}`);
  const base = await harness.capture();
  harness.sh('cd r; echo key > .gitignore; git add .gitignore; git commit -qm i; echo a2 > a');
  const theirs = await harness.capture();
  expect((await harness.rollback(base)).report.outcome).toBe('applied');
  harness.sh('cd r; echo later > later; git add later; git commit -qm later');
  await harness.capture();
  const warnings = await composed(harness, { base, theirs }, {});
  expect(harness.sh('cd r; cat a .gitignore secret/key; stat -c "%a %n" secret secret/key')).toBe(
    'a2\nkey\nsecret\n700 secret\n600 secret/key\n',
  );
  expect(warnings.filter((line) => line.includes('secret'))).toEqual([
    `r: secret/key stays, although the checkpoint does not have it: ${IGNORED}`,
  ]);
});

test('a merge leaves a file that is too large on the other side', async () => {
  await using harness = await createHarness({ maxFileBytes: 1000 });
  harness.sh(BEGIN);
  harness.sh(`cd r; ${PRIVATE}`);
  const base = await harness.capture();
  harness.sh('cd r; head -c 3000 /dev/zero >> secret/key; echo a2 > a');
  const theirs = await harness.capture();
  harness.sh(
    'cd r; echo secret > secret/key; echo a > a; echo later > later; git add later; git commit -qm later',
  );
  await harness.capture();
  const warnings = await composed(harness, { base, theirs }, {});
  expect(harness.sh('cd r; cat a secret/key; stat -c "%a %n" secret/key')).toBe(
    'a2\nsecret\n600 secret/key\n',
  );
  expect(warnings).toEqual([
    'r: secret/key stays, although the checkpoint does not have it: was too large for it',
  ]);
});

test.for(['git rm -q', 'git rm -q --cached'])(
  'a merge takes away what the other side took out of git by %s',
  async (remove) => {
    await using harness = await createHarness();
    harness.sh(BEGIN);
    harness.sh(`cd r; echo key > .gitignore; git add .gitignore; ${PRIVATE}; ${FORCED}`);
    const base = await harness.capture();
    harness.sh(`cd r; ${remove} secret/key; git commit -qm gone`);
    const theirs = await harness.capture();
    expect((await harness.rollback(base)).report.outcome).toBe('applied');
    harness.sh('cd r; echo later > later; git add later; git commit -qm later');
    await harness.capture();
    expect(await composed(harness, { base, theirs }, {})).toEqual([]);
    expect(harness.sh('cd r; ls -d secret 2>/dev/null || :; git status --short')).toBe(' D secret/key\n');
  },
);

describe('a directory with a mode of its own that holds only what git ignores', () => {
  const make = `${BEGIN}; echo key > .gitignore; git add -A; git commit -qm i; ${PRIVATE}; mkdir -m 750 -p up/down; echo k > up/down/key; chmod 700 up`;

  for (const damage of [
    'rm -rf secret',
    'rm secret/key',
    'rm -rf secret; echo f > secret',
    'mv secret other',
    'rm -rf up; ln -s a up',
    'chmod 755 secret',
  ]) {
    test(`does not stop a rollback, nor its undo: ${damage}`, async () => {
      await using harness = await createHarness();
      harness.sh(make);
      const first = await harness.capture();
      harness.sh(`cd r; ${damage}; echo n > n`);
      await harness.capture();
      const there = files(`${harness.root}/r`);
      const { report, undo } = await harness.rollback(first);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      expect(harness.sh('cd r; ls n 2>/dev/null || :; [ ! -d secret ] || stat -c %a secret')).toBe(
        damage === 'chmod 755 secret' || damage.endsWith('up') ? '700\n' : '',
      );
      const back = (await harness.rollback(undo)).report;
      expect([back.outcome, back.problems]).toEqual(['applied', []]);
      const modeless = (lines: string[]) => lines.filter((line) => !line.startsWith('d'));
      expect(modeless(files(`${harness.root}/r`))).toEqual(modeless(there));
    });
  }

  test('is not there in a fresh sandbox, and all else is', async () => {
    await using harness = await createHarness();
    harness.sh(make);
    const first = await harness.capture();
    expect((await harness.rehydrate(first)).outcome).toBe('applied');
    expect(harness.sh('cd r; ls -A; git status --short')).toBe('.agent-shadow\n.git\n.gitignore\na\nin\n');
  });
});
