/** Symlinks below .git: what leads elsewhere is refused before anything is written, what git itself makes goes on working. */
import { mkdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-links');

/** `o` is a directory outside of the projects root, with a file `main` and a directory `d`; the rest happens in the repository. */
const AWAY = [
  ['the directory of the branches', 'refs/heads', 'rm -r .git/refs/heads; ln -s "$o" .git/refs/heads'],
  [
    'a directory of branches',
    'refs/heads/d',
    'mkdir .git/refs/heads/d; mv .git/refs/heads/d "$o/e"; ln -s "$o/e" .git/refs/heads/d; git branch d/x',
  ],
  ['all refs', 'refs', 'mv .git/refs "$o/refs"; ln -s "$o/refs" .git/refs; git branch x'],
  ['a branch’s log', 'logs/refs/heads/main', 'ln -sf "$o/main" .git/logs/refs/heads/main'],
  ['HEAD’s log', 'logs/HEAD', 'ln -sf "$o/none" .git/logs/HEAD'],
  ['the logs', 'logs', 'rm -r .git/logs; ln -s "$o" .git/logs'],
  [
    'packed-refs',
    'packed-refs',
    'git branch x; git pack-refs --all; mv .git/packed-refs "$o/p"; ln -s "$o/p" .git/packed-refs',
  ],
  ['the objects', 'objects', 'mv .git/objects "$o/objects"; ln -s "$o/objects" .git/objects'],
  ['packs', 'objects/pack', 'rm -r .git/objects/pack; ln -s "$o/d" .git/objects/pack'],
  ['a file of an operation', 'MERGE_MSG', 'ln -s "$o/none" .git/MERGE_MSG'],
  ['the directory of an operation', 'rebase-merge', 'ln -s "$o/d" .git/rebase-merge'],
  ['the index', 'index', 'rm .git/index; ln -s "$o/d" .git/index'],
] as const;

describe('a symlink below .git that leads out of it', () => {
  test.each(sampled(AWAY, { every: 4, offset: printedSeed('links below .git') }))(
    '%s: a rollback names it and writes nothing',
    async (_, link, change) => {
      await using harness = await withTwoFiles(['app', 'web']);
      const first = await harness.capture();
      const outside = `${harness.top}/outside`;
      mkdirSync(`${outside}/d`, { recursive: true });
      harness.sh(
        `o=${outside}; echo precious > $o/main; echo two > a.txt; git commit -qam two; echo x > ../web/a.txt; ${change}`,
        'app',
      );
      const [before, there] = [files(outside), files(harness.root)];
      const { report } = await harness.rollback(first);
      expect(report).toMatchObject({
        outcome: 'refused',
        problems: [
          {
            path: 'app',
            kind: 'unsafe-path',
            message: expect.stringContaining(`.git/${link} is a symlink to ${outside}`),
          },
        ],
      });
      expect(report.problems).toHaveLength(1);
      expect([files(outside), files(harness.root)]).toEqual([before, there]);
      // Only what is beside the link.
      expect((await harness.rollback(first, { filesOnly: true })).report.outcome).toBe('applied');
      expect(files(outside)).toEqual(before);
    },
  );

  test('in a repository that was parked: it is made from its bundles', async () => {
    await using harness = await withTwoFiles(['web']);
    const first = await harness.capture();
    harness.sh('git clone -q web app');
    const second = await harness.capture();
    await applies(harness, first);
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    harness.sh(
      `g=$(echo .agent-shadow/parked-s1/*/1/git); rm -r $g/refs/heads; ln -s ${outside} $g/refs/heads`,
    );
    await applies(harness, second);
    expect(files(outside)).toEqual([]);
    expect(harness.sh('git status --short; git log --format=%s main', 'app')).toBe('one\n');
  });
});

describe('a symlink below .git that git makes', () => {
  test('a HEAD and a branch that are links are moved as before', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('ln -sf refs/heads/main .git/HEAD; ln -s refs/heads/main .git/refs/heads/alias', 'app');
    const first = await harness.capture();
    const before = world(harness, ['app']);
    harness.sh('echo two > a.txt; git commit -qam two', 'app');
    await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(before);
  });

  test('a working directory that shares another repository by links is rolled back', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(
      'mkdir -p work/.git/logs; cd work/.git; for n in config refs logs/refs objects info packed-refs; do mkdir -p "$(dirname "$n")"; ln -s "$(realpath ../../app)/.git/$n" "$n"; done; echo ref: refs/heads/other > HEAD; cd ..; git -C ../app branch other; git reset -q --hard',
    );
    const first = await harness.capture();
    harness.sh('echo two > a.txt; git commit -qam two', 'work');
    await applies(harness, first);
    expect(harness.sh('git status --short; git log --format=%s', 'work')).toBe('one\n');
  });
});
