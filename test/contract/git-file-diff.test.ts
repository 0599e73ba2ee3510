/** One file between two captures, with as many lines around its changes as are asked for: real git, odd names, and nothing run. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileDiffCommand, readFileDiff } from '../../adapters/git/file-diff.ts';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { programHere } from '../support/sandbox-program.ts';

const numbered = (changed: number, word: string): string =>
  Array.from({ length: 100 }, (_, at) => (at === changed ? word : `line ${at}`)).join('\\n');

const compared = async (
  repository: string,
  file: string,
  write: (text: string) => string,
  { context = 3, maxBytes = 100_000 }: { context?: number; maxBytes?: number } = {},
) => {
  await using harness = await withTwoFiles([repository]);
  harness.sh(write(numbered(50, 'before')), repository);
  const trees: (string | null)[] = [(await harness.capture()).repositories[0]?.tree ?? null];
  harness.sh(write(numbered(50, 'after')), repository);
  harness.sh('echo other > other.txt', repository);
  trees.push((await harness.capture()).repositories[0]?.tree ?? null);
  const [from = null, to = null] = trees;
  const [told] = await createRepositories(programHere()).diff(harness.sandbox, {
    projectsRoot: harness.root,
    sessionId: 's1',
    pairs: [{ path: repository, from, to }],
    statOnly: false,
    file: { file, context },
    maxBytes,
    timeoutMs: 60_000,
  });
  return told;
};

const inFile = (name: string) => (text: string) => `mkdir -p deep; printf '${text}\\n' > ${name}`;

test.each([
  ['app', 3, 6],
  ['app', 25, 50],
  ['app', 2_000, 99],
  ['.', 25, 50],
])(
  'in %s with %i lines around: %i lines are as they were, and no other file is there',
  async (repository, context, kept) => {
    const told = await compared(repository, 'deep/a.txt', inFile('deep/a.txt'), { context });
    const lines = told?.diff.split('\n') ?? [];
    expect(lines.filter((line) => line.startsWith(' '))).toHaveLength(kept);
    expect(lines).toContain(`+++ b/${repository === '.' ? '' : `${repository}/`}deep/a.txt`);
    expect(lines.filter((line) => line.startsWith('diff --git'))).toHaveLength(1);
    expect(told).toMatchObject({ files: 1, added: 1, deleted: 1, truncated: false, missing: false });
  },
);

test.each([
  ["it's; touch ran $(touch ran) `touch ran`", `'it'"'"'s; touch ran $(touch ran) \`touch ran\`'`],
  ['*', "'*'"],
  [':(glob)**', "':(glob)**'"],
  ['-U0', './-U0'],
  ['n\\xffn', "$'n\\xffn'"],
])('a file of the name %s is itself, and no command', async (name, word) => {
  const told = await compared('app', name, inFile(word), { context: 5 });
  expect(told?.diff.split('\n').filter((line) => line.startsWith(' '))).toHaveLength(10);
  expect(told?.diff).not.toContain('other.txt');
});

test('what is longer than its room ends with a whole line, and says so', async () => {
  const told = await compared('app', 'a.txt', inFile('a.txt'), { context: 2_000, maxBytes: 600 });
  expect(told?.truncated).toBe(true);
  expect(told?.diff.length).toBeLessThanOrEqual(600);
  expect(told?.diff).toMatch(/\n line \d+\n$/);
});

test('a file that does not differ has no lines', async () => {
  const told = await compared('app', 'nowhere.txt', inFile('a.txt'));
  expect(told).toMatchObject({ diff: '', files: 0, added: 0, deleted: 0 });
});

test.each([
  ["diff.external 'touch MARK'"],
  ["core.fsmonitor 'touch MARK'"],
  ["diff.x.textconv 'touch MARK; cat'"],
  ["diff.x.command 'touch MARK'"],
])('a setting of the shadow runs nothing: %s', async (setting) => {
  const mark = join(tmpdir(), `walkback-ran-${randomUUID()}`);
  await using harness = await withTwoFiles(['app']);
  const treeNow = async () => (await harness.capture()).repositories[0]?.tree ?? null;
  harness.sh('echo before > a.txt', 'app');
  const from = await treeNow();
  harness.sh('echo after > a.txt', 'app');
  const pair = { path: 'app', from, to: await treeNow() };
  harness.sh(`git -C .agent-shadow/session-s1 config ${setting.replace('MARK', mark)}`, 'app');
  harness.sh("printf '*.txt diff=x\\n' > .agent-shadow/session-s1/info/attributes", 'app');
  const command = fileDiffCommand({ sessionId: 's1', pair, file: 'a.txt', context: 3, maxBytes: 10_000 });
  const result = await harness.sandbox.run(command, { cwd: harness.root, timeoutMs: 60_000 });
  expect(readFileDiff(result, 10_000)).toMatchObject({ added: 1, deleted: 1 });
  expect(existsSync(mark)).toBe(false);
});

test('half a diff of a git that was ended is no diff, and a cut one says so', () => {
  const half = 'diff --git a/a.txt b/a.txt\n@@ -1 +1 @@\n-a\n+b\n';
  const ended = (exitCode: number) => () => readFileDiff({ exitCode, stdout: half, stderr: '' }, 10_000);
  for (const exitCode of [137, 141, 128, -1])
    expect(ended(exitCode)).toThrow(expect.objectContaining({ name: 'SandboxUnavailable', retryable: true }));
  expect(() => readFileDiff({ exitCode: 137, stdout: '', stderr: '' }, 10_000)).toThrow('it said nothing');
  expect(readFileDiff({ exitCode: 141, stdout: half, stderr: '' }, half.length - 1)).toMatchObject({
    truncated: true,
  });
});
