import { expect, test } from 'vitest';
import type * as z from 'zod';
import { LINK_LIMITS } from '../../adapters/git/join-links.ts';
import { createRestore } from '../../adapters/git/program/restore.ts';
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

/** What a restore is told to be when the program in the sandbox says this of its one repository. */
const toldOf = (problems: { kind: string; message: string }[]): Promise<RestoreReport> => {
  const report = {
    outcome: 'broken',
    repositories: [{ path: 'a', written: 0, deleted: 0, paths: [], warnings: [], problems }],
    asides: [],
    warnings: [],
  };
  const program = {
    call: async <Report>(_: unknown, __: unknown, schema: z.ZodType<Report>) => schema.parse(report),
    run: () => Promise.reject(new Error('a restore reads no answer itself')),
  };
  const limits = { include: [], exclude: [], maxFileBytes: 1, maxDepth: 1, timeoutMs: 1 };
  const one = { path: 'a', target: null, now: null, undo: null };
  const request = { sessionId: 's', projectsRoot: '/p', filesOnly: false, dryRun: false };
  const { restore } = createRestore(program, LINK_LIMITS);
  return restore({} as never, { ...request, ...limits, repositories: [{ ...one, bundles: [] }] });
};

test.each(['', ' \n'])('no reason of a sandbox is empty, also when it says %j', async (message) => {
  const told = await toldOf([{ kind: 'failed', message }]);
  expect(restoreError(told).message).toMatch(/^a: the sandbox gave no reason\. /);
  expect(restoreError(await toldOf([])).message).toMatch(/^the sandbox did not say why\. /);
});
