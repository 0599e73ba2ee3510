import { expect, test } from 'vitest';
import type { SandboxFacts } from '../../core/checkpoint/ports/workspace.ts';
import { judgeSandbox } from '../../core/checkpoint/workspace/judge-sandbox.ts';

const FACTS: SandboxFacts = {
  bash: '5.2.15(1)-release',
  git: 'git version 2.39.5',
  user: 'user',
  missing: [],
  hasGnuFind: true,
  needs: [],
  root: 'directory',
  canMakeIn: null,
  isWritable: true,
  hasTemporary: true,
  freeBytes: null,
  freeInodes: null,
  unreadable: [],
};

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
  const check = judgeSandbox({ ...FACTS, git }, { projectsRoot: '/projects', isFresh: false }).find(
    ({ id }) => id === 'git',
  );
  expect(check?.ok).toBe(advice.source === '^$');
  expect(check?.advice).toMatch(advice);
});
