/** A diff reads the attributes of the last capture, not files of the working tree. */
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { programHere } from '../support/sandbox-program.ts';

test('a file without diff by its attributes is told as binary, also below the top', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    'echo "a.txt -diff" > .gitattributes; echo "*.q -diff" > src/.gitattributes; echo 1 > src/x.q',
    'app',
  );
  const trees: (string | null)[] = [(await harness.capture()).repositories[0]?.tree ?? null];
  harness.sh('echo 2 > a.txt; echo 2 > src/x.q; echo 3 > src/main.c', 'app');
  trees.push((await harness.capture()).repositories[0]?.tree ?? null);
  const [from = null, to = null] = trees;
  const [told] = await createRepositories(programHere()).diff(harness.sandbox, {
    projectsRoot: harness.root,
    sessionId: 's1',
    pairs: [{ path: 'app', from, to }],
    statOnly: false,
    maxBytes: 10_000,
    timeoutMs: 60_000,
  });
  expect(told?.diff.split('\n').filter((line) => /^(Binary|[-+][^-+])/.test(line))).toEqual([
    'Binary files a/app/a.txt and b/app/a.txt differ',
    '-code',
    '+3',
    'Binary files a/app/src/x.q and b/app/src/x.q differ',
  ]);
});
