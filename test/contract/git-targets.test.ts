/**
 * Before a rollback a capture also has what the target would overwrite, ignored or not, and each way back and forth brings
 * every file back.
 */
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { openCase } from '../support/git-cases.ts';
import { type HarnessOptions } from '../support/git-harness.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-targets');

interface Case {
  name: string;
  /** What is there at the target. */
  at: string;
  since: string;
  options?: HarnessOptions;
  /** What the capture of now holds that rules ignore. */
  forced: string[];
  /** What it tells as left out. */
  skipped?: string[];
  /** What a restore leaves as the target had it: the file is in the capture of the repository around its own. */
  stays?: string;
}

const CASES: Case[] = [
  {
    name: 'a file over the cap that rules ignore',
    at: 'echo then >key',
    since: 'echo key >.git/info/exclude; head -c 3000 /dev/zero >key',
    options: { maxFileBytes: 1000 },
    forced: ['key'],
    skipped: [],
  },
  {
    name: 'a file over the cap that nothing ignores',
    at: 'echo then >key',
    since: 'head -c 3000 /dev/zero >key',
    options: { maxFileBytes: 1000 },
    forced: ['key'],
    skipped: ['app/key'],
  },
  {
    name: 'files of a directory that another repository has taken',
    at: 'mkdir -p in/deep; echo then | tee in/key in/a in/deep/b >/dev/null',
    since: `rm -r in; git init -q in; cd in; echo key >.gitignore; echo now | tee key a >/dev/null; git add .; git commit -qm in; ln -s nowhere deep`,
    forced: ['in/a', 'in/deep', 'in/key'],
    stays: 'app/in/key',
  },
  {
    name: 'a link that rules ignore, in the place of a directory',
    at: 'mkdir d; echo then >d/f',
    since: 'rm -r d; mkdir ../../outside; ln -s ../../outside d; echo d >.git/info/exclude',
    forced: ['d'],
  },
  {
    name: 'a file that the session leaves out',
    at: 'ln -s a.txt kept.log; mkdir d; echo then >d/file',
    since: 'rm -r kept.log d; echo now >kept.log; echo now >d',
    options: { exclude: ['*.log'] },
    forced: [],
  },
  {
    name: 'a file above what the target has, captured or not',
    at: 'mkdir -p d/e f/g; echo then | tee d/e/x f/g/y >/dev/null',
    since: 'rm -r d f; echo now | tee d f >/dev/null; echo f >.git/info/exclude',
    forced: ['f'],
  },
];

describe('before a rollback, a capture has what it would overwrite', () => {
  test.for(CASES)('$name', async ({ at, since, options, forced, skipped = [], stays }) => {
    await using harness = await openCase({ setup: at, options });
    const first = await harness.capture();
    harness.sh(since, 'app');
    const now = files(harness.root);
    const before = await harness.capture();
    const held = (tree = ''): string[] =>
      harness
        .sh(`git --git-dir=.agent-shadow/session-s1 ls-tree -r -z --name-only ${tree}`, 'app')
        .split('\0');
    const treeOf = ({ repositories }: typeof before): string | undefined =>
      repositories.find(({ path }) => path === 'app')?.tree;
    const { undo, report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(undo.report.skipped.map(({ path }) => path)).toEqual(skipped);
    const seen = new Set(held(treeOf(before)));
    expect(held(treeOf(undo)).filter((path) => !seen.has(path))).toEqual(forced);
    const back = await harness.rollback(undo);
    expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
    const differ = files(harness.root).filter((line) => !now.includes(line));
    expect(differ.map((line) => line.split(' ')[2])).toEqual(stays === undefined ? [] : [stays]);
    expect(files(harness.root)).toHaveLength(now.length);
  });
});
