/** Repositories far below the projects root, or above it, are found, or it is said that nobody looked. */
import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, ONE_FILE } from '../support/git-repositories.ts';
import { programHere } from '../support/sandbox-program.ts';

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
  const survey = await createRepositories(programHere()).survey(harness.sandbox, {
    projectsRoot: harness.root,
    maxDepth: 3,
    detail: false,
    timeoutMs: 60_000,
  });
  expect([survey.repositories.map(({ path }) => path), survey.skipped]).toEqual([['app'], [said]]);
  expect((await harness.capture()).report.skipped).toEqual([said]);
  expect((await harness.capture()).report.skipped).toEqual([said]);
});

const surveyOf = (harness: Harness, directory: string) =>
  createRepositories(programHere()).survey(harness.sandbox, {
    projectsRoot: join(harness.root, directory),
    maxDepth: 8,
    detail: false,
    timeoutMs: 60_000,
  });

test('the repository around a projects root is named, where there is none below', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir -p app/src/new; cd app; ${ONE_FILE}; mkdir -p 'odd name/x'`);
  harness.sh('git -C app worktree add -q --detach ../linked; mkdir linked/sub; mkdir -p src/.git/sub');
  const nothing = { repositories: [], skipped: [] };
  const app = { ...nothing, around: join(harness.root, 'app') };
  expect(await surveyOf(harness, 'app/src/new')).toEqual(app);
  expect(await surveyOf(harness, 'app/odd name/x')).toEqual(app);
  expect(await surveyOf(harness, 'linked/sub')).toEqual({ ...nothing, around: join(harness.root, 'linked') });
  // What git takes for no repository is none.
  expect(await surveyOf(harness, 'src/.git/sub')).toEqual(nothing);
  harness.sh(`cd app/src; ${ONE_FILE}`);
  expect((await surveyOf(harness, 'app/src')).around).toBeUndefined();
});

test('a file whose path fits in its repository, and not beside it, goes and comes back, and is not kept', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir app; cd app; ${ONE_FILE}`);
  const first = await harness.capture();
  const name = 'd'.repeat(250);
  harness.sh(`for i in {1..16}; do mkdir ${name}; cd ${name}; done; echo deep > f`, 'app');
  const second = await harness.capture(first);
  const { report } = await applies(harness, first, { from: second });
  expect(report.asides ?? []).toEqual([]);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  const path = `${harness.root}/app/${Array(16).fill(name).join('/')}/f`;
  expect(existsSync(path)).toBe(false);
  await applies(harness, second);
  const held = await open(path, 'a');
  // The system cannot name what is open there.
  const away = await applies(harness, first);
  expect(away.report.asides).toMatchObject([{ late: [], open: [expect.stringMatching(/d\/f$/)] }]);
  await held.appendFile('late\n');
  await held.close();
  const late = await harness.captureLate(second);
  expect(late.report.late).toHaveLength(1);
  await harness.lateStored(late);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  await applies(harness, late);
  expect(readFileSync(path, 'utf8')).toBe('deep\nlate\n');
});
