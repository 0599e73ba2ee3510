import { expect, test } from 'vitest';
import { uncaptured } from '../../adapters/git/capture-command.ts';
import type { Pair } from '../../adapters/git/output.ts';
import { restoreReport } from '../../adapters/git/restore-command.ts';
import type { RepositoryState } from '../../core/checkpoint/model.ts';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { restoreError } from '../../core/checkpoint/restore/restore-errors.ts';
import { planRestore } from '../../core/checkpoint/restore/restore-plan.ts';

const held = (path: string): RepositoryState =>
  ({ path, state: 'captured', commit: 'c', tree: 't', meta: 'm' }) as RepositoryState;

test('a repository that an earlier run set aside is in the plan, so that it comes back if this run fails', () => {
  const { repositories } = planRestore({
    skipped: [],
    target: [held('a')],
    now: [held('a')],
    undo: [held('a'), held('b')],
    sources: new Map(),
  });
  expect(repositories.map(({ path, target, now, undo }) => [path, target, now, undo])).toEqual([
    ['a', { tree: 't', meta: 'm' }, { tree: 't', meta: 'm' }, { tree: 't', meta: 'm' }],
    ['b', null, null, { tree: 't', meta: 'm' }],
  ]);
});

test.each([
  ['refused', /Nothing was changed/],
  ['reverted', /Everything was put back/],
  ['broken', /Not everything could be put back/],
] as const)('a restore that ended %s says what became of the files', (outcome, words) => {
  const problems: RestoreReport['problems'] = [{ path: 'a', kind: 'failed', message: 'why' }];
  const { message } = restoreError({ outcome, repositories: [], problems, warnings: [], roundTrips: 1 });
  expect(message).toMatch(words);
});

test.each(['', ' \n'])('no reason of a sandbox is empty, also when it says %j', (said) => {
  const of = (...pairs: Pair[]) =>
    restoreReport([['outcome', 'broken'], ['repo', 'a'], ...pairs], { repositories: [] } as never, 1);
  const told = of(['problem', 'failed'], ['problem-message', said]);
  expect(restoreError(told).message).toMatch(/^a: the sandbox gave no reason\. /);
  expect(restoreError(of(['problem', 'failed'])).message).toMatch(/^a: the sandbox gave no reason\. /);
  expect(restoreError(of()).message).toMatch(/^the sandbox did not say why\. /);
  const [failed] = uncaptured(
    [
      ['fail-path', 'f'],
      ['fail-reason', said],
    ],
    'fail',
    'a',
  );
  expect(failed).toEqual({ path: 'a/f', reason: 'the sandbox gave no reason' });
});
