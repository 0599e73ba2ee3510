/** One file between two captures, with as many lines around its changes as are asked for: real git, odd names, and nothing run. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { programHere } from '../support/sandbox-program.ts';

type Harness = Awaited<ReturnType<typeof withTwoFiles>>;

const numbered = (changed: number, word: string): string =>
  Array.from({ length: 100 }, (_, at) => (at === changed ? word : `line ${at}`)).join('\\n');

/** The changes of one file, with so many lines around them. */
const asked = async (
  harness: Harness,
  pair: { path: string; from: string | null; to: string | null },
  file: string,
  { context = 3, maxBytes = 100_000, sandbox = harness.sandbox } = {},
) => {
  const [told] = await createRepositories(programHere()).diff(sandbox, {
    projectsRoot: harness.root,
    sessionId: 's1',
    pairs: [pair],
    statOnly: false,
    file: { file, context },
    maxBytes,
    timeoutMs: 60_000,
  });
  return told;
};

const treeNow = async (harness: Harness) => (await harness.capture()).repositories[0]?.tree ?? null;

const compared = async (
  repository: string,
  file: string,
  write: (text: string) => string,
  limits: { context?: number; maxBytes?: number } = {},
) => {
  await using harness = await withTwoFiles([repository]);
  harness.sh(write(numbered(50, 'before')), repository);
  const from = await treeNow(harness);
  harness.sh(write(numbered(50, 'after')), repository);
  harness.sh('echo other > other.txt', repository);
  return await asked(harness, { path: repository, from, to: await treeNow(harness) }, file, limits);
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
  harness.sh('echo before > a.txt', 'app');
  const from = await treeNow(harness);
  harness.sh('echo after > a.txt', 'app');
  const pair = { path: 'app', from, to: await treeNow(harness) };
  harness.sh(`git -C .agent-shadow/session-s1 config ${setting.replace('MARK', mark)}`, 'app');
  harness.sh("printf '*.txt diff=x\\n' > .agent-shadow/session-s1/info/attributes", 'app');
  expect(await asked(harness, pair, 'a.txt')).toMatchObject({ added: 1, deleted: 1 });
  expect(existsSync(mark)).toBe(false);
});

test.each(['printf half; kill -KILL $$', 'printf half; exit 128', 'exit 1'])(
  'half a diff of a git that does %s is no diff',
  async (does) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('echo before > a.txt', 'app');
    const from = await treeNow(harness);
    harness.sh('echo after > a.txt', 'app');
    const pair = { path: 'app', from, to: await treeNow(harness) };
    const bin = join(harness.root, '../bin');
    mkdirSync(bin);
    const stub = `#!/bin/bash\ncase " $* " in *' -U3 '*) ${does} ;; *) PATH=\${PATH#*:} exec git "$@" ;; esac\n`;
    writeFileSync(join(bin, 'git'), stub, { mode: 0o755 });
    const sandbox = processSandbox({ PATH: `${bin}:${process.env['PATH']}` });
    await expect(asked(harness, pair, 'a.txt', { sandbox })).rejects.toMatchObject({
      name: 'SandboxUnavailable',
      retryable: true,
    });
  },
);
