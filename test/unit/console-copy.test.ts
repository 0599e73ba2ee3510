/** The page of a review copy: what it says of each repository. */
import { expect, test } from 'vitest';
import { openCopy } from '../../console/pages/copy.ts';

test('a branch is named, a HEAD without one is detached, and a repository without a commit is neither', async () => {
  const repository = { state: 'captured', changed: true, bundleBytes: 0 };
  const head = '0123456789abcdef0123456789abcdef01234567';
  const page = await openCopy({
    fields: { message: 'm1', request: 'r1' },
    params: { id: 's1' },
    ask: async () => ({
      sandboxId: 'sandbox-2',
      checkpointId: 'cp-1',
      projectsRoot: '/work',
      warnings: [],
      repositories: [
        { ...repository, path: 'on-branch', branch: 'main', head },
        { ...repository, path: 'on-commit', head },
        { ...repository, path: 'without-commit' },
      ],
    }),
  } as unknown as Parameters<typeof openCopy>[0]);
  const text = String(await (page as { body: unknown }).body);
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
