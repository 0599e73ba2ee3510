/** The page of a review copy: what it says of each repository. */
import { expect, test } from 'vitest';
import type { DirectoryOf } from '../../console/context.ts';
import { openCopy } from '../../console/pages/copy.ts';

const pageOf = async (repositories: readonly object[], directory?: string): Promise<string> => {
  const page = await openCopy({
    fields: { message: 'm1', request: 'r1' },
    params: { id: 's1' },
    directoryOf: (async (sandboxId, path) =>
      directory === undefined ? undefined : `${directory}/${sandboxId}${path}`) satisfies DirectoryOf,
    ask: async () => ({
      sandboxId: 'sandbox-2',
      checkpointId: 'cp-1',
      projectsRoot: '/work',
      warnings: [],
      repositories,
    }),
  } as unknown as Parameters<typeof openCopy>[0]);
  return String(await (page as { body: unknown }).body);
};

test('the directory is that of the copy, and not the one that the session works in', async () => {
  expect(await pageOf([], '/data')).toMatch(/<dt>Directory<\/dt>\s*<dd>(?:<[^>]*>)?\/data\/sandbox-2\/work</);
  expect(await pageOf([])).toMatch(/<dt>Directory inside the sandbox<\/dt>\s*<dd>(?:<[^>]*>)?\/work</);
});

test('a branch is named, a HEAD without one is detached, and a repository without a commit is neither', async () => {
  const repository = { state: 'captured', changed: true, bundleBytes: 0 };
  const head = '0123456789abcdef0123456789abcdef01234567';
  const text = await pageOf([
    { ...repository, path: 'on-branch', branch: 'main', head },
    { ...repository, path: 'on-commit', head },
    { ...repository, path: 'without-commit' },
  ]);
  const rows = [...text.matchAll(/<tr.*?<\/tr>/gs)].map(([row]) =>
    row
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  expect(rows).toEqual([
    'Repository Branch Head',
    'on-branch main 012345678',
    'on-commit detached 012345678',
    'without-commit',
  ]);
});
