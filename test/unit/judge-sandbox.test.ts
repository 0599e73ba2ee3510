import { expect, test } from 'vitest';
import { judgeRepositories, judgeSandbox } from '../../core/checkpoint/workspace/judge-sandbox.ts';
import { HEALTHY } from '../support/fakes/healthy-sandbox.ts';

test.each([
  ['', /^Install git 2\.38/],
  ['git version 2.24.9', /^Install git 2\.38/],
  ['git version 2.25.1', /SHA-256.* to merge/],
  ['git version 2.28.1', /SHA-256.* to merge/],
  ['git version 2.29.0', /^Checkpoints work; to merge/],
  ['git version 2.37.7', /^Checkpoints work; to merge/],
  ['git version 2.38.0', /^$/],
  ['git version 3.0.0', /^$/],
])('of "%s" is said what works with it', (git, advice) => {
  const check = judgeSandbox({ ...HEALTHY, git }, { projectsRoot: '/projects', isFresh: false }).find(
    ({ id }) => id === 'git',
  );
  expect(check?.ok).toBe(advice.source === '^$');
  expect(check?.advice).toMatch(advice);
});

test.each([
  [undefined, false, ''],
  ['/work/app', false, 'Give /work/app as projectsRoot, or a directory above it.'],
  ['/work/app', true, ''],
] as const)('no repository, inside %s, in a fresh sandbox: %s', (around, isFresh, advice) => {
  const survey = { repositories: [], skipped: [], ...(around !== undefined && { around }) };
  expect(judgeRepositories(survey, HEALTHY, isFresh).advice).toBe(advice);
});
