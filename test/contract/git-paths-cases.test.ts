/**
 * The case list of capture and restore, of which some paths go back: whole repositories, and files alone. A sample, others each time;
 * half of them in `npm run test:long`.
 */
import { describe, expect, test } from 'vitest';
import { MERGE_CASES } from '../support/merge-cases.ts';
import { somePathsGoBack } from '../support/paths-cases.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

/** What is promised of rollbacks, merges, reverts and partial rollbacks alike; the three test files play the same list. */
const PROMISED: [kind: string, name: RegExp][] = [
  ['binary content', /binary/],
  ['CRLF and attributes', /CRLF.*attributes/],
  ['filters', /clean and smudge filter/],
  ['LFS pointers', /LFS pointers/],
  ['modes', /executable bit/],
  ['modes alone', /chmod alone/],
  ['empty directories', /empty directories/],
  ['symlinks', /symlinks: dangling/],
  ['a directory that becomes a link', /replaced by a symlink/],
  ['odd names', /newlines and leading dashes/],
  ['names of other bytes', /not UTF-8/],
  ['long names', /255 bytes/],
  ['submodules', /submodule/],
  ['nested repositories', /nested repository/],
  ['linked worktrees', /linked worktree/],
  ['repositories created', /repository that is born/],
  ['repositories deleted', /one that is gone/],
  ['repositories renamed', /one that is renamed/],
  ['an unborn HEAD', /without commits/],
  ['a detached HEAD', /detached HEAD/],
  ['a merge in progress', /merge conflict in progress/],
  ['a rebase in progress', /rebase in progress/],
  ['sparse checkouts', /sparse/],
  ['shallow clones', /shallow/],
  ['partial clones', /partial clone/],
  ['ignored files', /ignored files stay/],
  ['SHA-256', /SHA-256/],
];

test('each kind of repository that is promised has a case', () => {
  const missing = PROMISED.filter(([, name]) => !MERGE_CASES.some((one) => name.test(one.name)));
  expect(missing.map(([kind]) => kind)).toEqual([]);
  expect(new Set(MERGE_CASES.map(({ name }) => name)).size).toBe(MERGE_CASES.length);
});

describe('some paths go back', () => {
  inTurn('git-paths-cases').concurrent.for(
    sampled(MERGE_CASES, {
      every: 25,
      whole: 2,
      offset: printedSeed('paths of cases'),
      minimum: 2,
    }),
  )('$name', somePathsGoBack);
});
