/** Repositories far below the projects root are found, or it is said that nobody looked. */
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { applies, ONE_FILE } from '../support/git-repositories.ts';

const DEEP = 'src/github.com/org/repo';

test('a repository four levels down is captured, also one that comes later, and goes back', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir -p ${DEEP}; cd ${DEEP}; ${ONE_FILE}`);
  const first = await harness.capture();
  expect(first.repositories).toMatchObject([{ path: DEEP, state: 'captured' }]);
  const before = files(harness.root);
  harness.sh(
    `echo two > ${DEEP}/f.txt; mkdir -p src/example.org/a/b/c; cd src/example.org/a/b/c; ${ONE_FILE}; mkdir -p ../x/nested; cd ../x/nested; ${ONE_FILE}`,
  );
  const second = await harness.capture();
  expect(second.repositories.map(({ path }) => path).toSorted()).toEqual([
    'src/example.org/a/b/c',
    'src/example.org/a/b/x/nested',
    DEEP,
  ]);
  expect(second.report.skipped).toEqual([]);
  const after = files(harness.root);
  const { undo } = await applies(harness, first);
  expect(files(harness.root)).toEqual(before);
  await applies(harness, undo);
  expect(files(harness.root)).toEqual(after);
});

test('what lies deeper than anybody looks is named: by the survey, a capture and the next one', async () => {
  await using harness = await createHarness({ maxDepth: 3 });
  harness.sh(`mkdir app; cd app; ${ONE_FILE}; mkdir -p deep/er/and/deep/er; echo x > deep/er/and/deep/er/x`);
  harness.sh(`mkdir -p a/b/c/repo a/b/c/empty; cd a/b/c/repo; ${ONE_FILE}`);
  const said = { path: 'a/b/c/repo', reason: expect.stringMatching(/more than 3 levels below/) };
  const survey = await createRepositories().survey(harness.sandbox, {
    projectsRoot: harness.root,
    maxDepth: 3,
    detail: false,
    timeoutMs: 60_000,
  });
  expect([survey.repositories.map(({ path }) => path), survey.skipped]).toEqual([['app'], [said]]);
  expect((await harness.capture()).report.skipped).toEqual([said]);
  expect((await harness.capture()).report.skipped).toEqual([said]);
});
