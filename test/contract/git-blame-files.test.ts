/** Who wrote a file, where the file or its name is not what one would like: real git. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import type { BlameAnswer } from '../../contract/blame.ts';
import { blameRequest } from '../support/blame-request.ts';
import { BEGIN, kindsOf, open } from '../support/blame-stage.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { createGitStage, type GitStage } from '../support/git-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

const test = sampledTest('git-blame-files', 3);

describe('a path', () => {
  let stage: GitStage;
  let sandbox: string;
  beforeAll(async () => {
    stage = await createGitStage();
    sandbox = await stage.addSandbox();
    stage.sh(
      sandbox,
      `mkdir -p app/src other inner && cd app && ${BEGIN} && printf '\\000\\001' > binary && ln -s a.txt link && echo kept > gone.txt && : > empty && printf 'one\\ntwo' > no-end && printf 'one\\r\\ntwo\\r\\n' > crlf &&
printf 'ignored.txt\\n' > .gitignore && echo secret > ignored.txt && echo same > src/same.txt && head -c 5000000 /dev/zero | tr '\\000' 'a' > large.txt && git add -A && git commit -qm all && git rm -q --cached gone.txt && git commit -qm 'not any more' && git add gone.txt`,
    );
    stage.sh(
      sandbox,
      `cd other && ${BEGIN} && mkdir src && echo same > src/same.txt && echo alone > alone.txt`,
    );
    stage.sh(sandbox, `cd inner && ${BEGIN}`);
    stage.sh(sandbox, `git init -q -b main app/nested && cd app/nested && ${BEGIN} && git clone -q . ../sub`);
    await stage.start('s1', sandbox);
    stage.sh(sandbox, 'rm app/gone.txt');
    await stage.checkpoint('s1', 'remover');
    await stage.checkpoint('s1', 'later');
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test.for([
    ['app/src', 'NotATextFile', 'is a directory: name a file in it'],
    ['app/', 'NotATextFile', '"app" is a repository'],
    ['.', 'NotATextFile', '"." is the projects root'],
    ['app/nested', 'NotATextFile', 'is a repository'],
    ['app/link', 'NotATextFile', 'is a symbolic link'],
    ['app/binary', 'NotATextFile', 'is a binary file'],
    ['app/large.txt', 'NotATextFile', 'It has 5000000 bytes'],
    ['app/ignored.txt', 'PathNotFound', 'git may ignore it'],
    ['app/never.txt', 'PathNotFound', 'There is no file "never.txt" in repository app now'],
    [
      'app/gone.txt',
      'PathNotFound',
      /Message "remover" removed it: cp-00000002-\w+ does not have it any more. cp-00000001-\w+ has it still/,
    ],
    [
      'nowhere/a.txt',
      'PathNotFound',
      'neither below the projects root nor in one of its repositories: app, app/nested',
    ],
    [
      'src/same.txt',
      'PathAmbiguous',
      /is a file of 2 repositories: app, other. Name one of them with --repository/,
    ],
    ['a.txt', 'PathAmbiguous', 'is a file of 5 repositories'],
  ])('%s is refused by name', async ([path, name, message]) => {
    await expect(stage.blame('s1', path)).rejects.toMatchObject({
      name,
      message:
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    });
  });

  test('what was removed is told where the point is later, and shown where it is earlier', async () => {
    await expect(stage.blame('s1', 'app/gone.txt', { at: 'later' })).rejects.toMatchObject({
      details: { removedBy: { messageId: 'remover', sessionId: 's1' } },
    });
    const [baseline] = await stage.store.listTree('s1');
    const answer = await stage.blame('s1', 'app/gone.txt', { at: baseline?.checkpointId ?? '' });
    expect(answer.lines.map(({ text }) => text)).toEqual(['kept']);
  });

  test('a repository, or a path that only one has, is enough', async () => {
    const other = await stage.blame('s1', 'src/same.txt', { repository: 'other' });
    expect([other.repository, other.path]).toEqual(['other', 'src/same.txt']);
    const alone = await stage.blame('s1', 'alone.txt');
    expect([alone.repository, alone.path, kindsOf(alone)]).toEqual(['other', 'alone.txt', ['before']]);
    await expect(stage.blame('s1', 'a.txt', { repository: 'none' })).rejects.toMatchObject({
      name: 'InvalidInput',
      message: expect.stringContaining('There is no repository "none"'),
    });
  });

  test('unknown points are told as everywhere', async () => {
    await expect(stage.blame('s1', 'app/a.txt', { at: 'nobody' })).rejects.toMatchObject({
      name: 'MessageNotFound',
    });
    await expect(stage.blame('s1', 'app/a.txt', { at: 'cp-00000099-0badcafe' })).rejects.toMatchObject({
      name: 'CheckpointNotFound',
    });
  });

  test('lines that are asked for are those that come, and none after the end', async () => {
    const two = await stage.blame('s1', 'app/a.txt', { lines: { from: 2, to: 3 } });
    expect([two.lines.map(({ line }) => line), two.totalLines, two.nextLine]).toEqual([[2, 3], 3, undefined]);
    const rest = await stage.blame('s1', 'app/a.txt', { lines: { from: 3, to: 90 } });
    expect(rest.lines.map(({ text }) => text)).toEqual(['three']);
    await expect(stage.blame('s1', 'app/a.txt', { lines: { from: 4 } })).rejects.toMatchObject({
      name: 'InvalidInput',
      message: 'lines: 4 is after the end: the file has 3 lines.',
    });
    await expect(stage.blame('s1', 'app/empty')).resolves.toMatchObject({
      totalLines: 0,
      lines: [],
      origins: [],
    });
    const noEnd = await stage.blame('s1', 'app/no-end');
    expect([noEnd.totalLines, noEnd.lines.at(-1)?.text]).toEqual([2, 'two']);
    const crlf = await stage.blame('s1', 'app/crlf');
    expect(crlf.lines.map(({ text }) => text)).toEqual(['one\r', 'two\r']);
  });
});

test.for([
  ["it's; touch ran $(touch ran) `touch ran`", `'it'"'"'s; touch ran $(touch ran) \`touch ran\`'`],
  ['*', "'*'"],
  [':(glob)**', "':(glob)**'"],
  ['-L1,2', './-L1,2'],
  ['two\nlines\t"', "$'two\\nlines\\t\"'"],
  ['n\\xffn', "$'n\\xffn'"],
  ['\u202etxt', "$'\\xe2\\x80\\xaetxt'"],
])('a file of the name %j is itself, and no command', async ([name, word]) => {
  await using stage = await createGitStage();
  const sandbox = await open(stage, 's1', `${BEGIN} && cp a.txt ${word}`);
  stage.sh(sandbox, `LC_ALL=C.UTF-8; sed -i 2s/.*/TWO/ -- ${word}`, 'app');
  await stage.checkpoint('s1', 'm1');
  stage.sh(sandbox, `mv -- ${word} renamed && echo four >> renamed`, 'app');
  const before = await stage.blame('s1', `app/${name}`, { at: 'm1' });
  expect([before.path, kindsOf(before)]).toEqual([name, ['before', 'checkpoint', 'before']]);
  const after = await stage.blame('s1', 'app/renamed');
  expect(kindsOf(after)).toEqual(['before', 'checkpoint', 'before', 'now']);
  expect(after.origins[1]).toMatchObject({ path: name });
  expect(readdirSync(join(stage.rootOf(sandbox), 'app'))).not.toContain('ran');
});

test('text is text, whatever bytes it has, and a long line is cut', async () => {
  await using stage = await createGitStage();
  const sandbox = await open(stage, 's1');
  stage.sh(
    sandbox,
    `printf 'a\\xffb\\n\\033[2Jred\\n' > odd.txt && head -c 3000 /dev/zero | tr '\\000' x >> odd.txt`,
    'app',
  );
  const { lines } = await stage.blame('s1', 'app/odd.txt');
  expect(lines.map(({ text }) => text.slice(0, 8))).toEqual(['a\ufffdb', '\u001b[2Jred', 'xxxxxxxx']);
  expect(lines.map(({ isCut }) => isCut ?? false)).toEqual([false, false, true]);
});

test('an answer has at most 2,000 lines, and says where the next begins', async () => {
  await using stage = await createGitStage();
  const sandbox = await open(stage, 's1');
  stage.sh(sandbox, 'seq 4500 > many.txt', 'app');
  await stage.checkpoint('s1', 'm1');
  const seen: string[] = [];
  let from: number | undefined = 1;
  for (let calls = 0; from !== undefined && calls < 5; calls++) {
    const answer: BlameAnswer = await stage.blame('s1', 'app/many.txt', { lines: { from } });
    expect(answer.totalLines).toBe(4500);
    seen.push(...answer.lines.map(({ text }) => text));
    from = answer.nextLine;
  }
  expect(seen).toEqual(Array.from({ length: 4500 }, (_, at) => String(at + 1)));
  const some = await stage.blame('s1', 'app/many.txt', { lines: { from: 10, to: 20 } });
  expect(some.nextLine).toBeUndefined();
});

test.for([
  ["core.fsmonitor 'touch MARK'"],
  ["diff.x.textconv 'touch MARK; cat'"],
  ["blame.ignoreRevsFile '/nowhere'"],
  ["mailmap.file '/work/map'"],
])('a setting of the shadow or of the repository runs nothing: %s', async ([setting]) => {
  const mark = join(tmpdir(), `walkback-ran-${randomUUID()}`);
  await using stage = await createGitStage();
  const sandbox = await open(
    stage,
    's1',
    `${BEGIN} && printf '*.txt diff=x\\n' > .gitattributes && printf 'Other <o@x> <agent@example.com>\\n' > .mailmap`,
  );
  await stage.checkpoint('s1', 'm1');
  for (const at of ['.', '.agent-shadow/session-s1'])
    stage.sh(sandbox, `git -C ${at} config ${setting.replace('MARK', mark)}`, 'app');
  expect(kindsOf(await stage.blame('s1', 'app/a.txt', { at: 'm1' }))).toEqual(['commit', 'commit', 'commit']);
  expect(existsSync(mark)).toBe(false);
});

test('nothing is left of a call in the sandbox, and nothing in its table', async () => {
  await using stage = await createGitStage();
  const sandbox = await open(stage, 's1');
  await stage.checkpoint('s1', 'm1');
  const list = () =>
    readdirSync(stage.rootOf(sandbox), { recursive: true })
      .map(String)
      .filter((name) => !name.includes('/objects/'))
      .toSorted();
  const before = [list(), readdirSync(stage.temporary), structuredClone(stage.store.tables)];
  await stage.blame('s1', 'app/a.txt', { at: 'm1' });
  expect([list(), readdirSync(stage.temporary), structuredClone(stage.store.tables)]).toEqual(before);
  stage.sh(sandbox, 'rm -rf app/.agent-shadow');
  await stage.blame('s1', 'app/a.txt', { at: 'm1' });
  expect(readdirSync(stage.rootOf(sandbox)).toSorted()).toEqual(['.agent-shadow', 'app']);
  expect(readdirSync(join(stage.rootOf(sandbox), '.agent-shadow'))).not.toContain('run-s1');
});

test('a history of thousands of states goes ahead as a file', async () => {
  await using harness = await withTwoFiles(['app']);
  const treeNow = async () => (await harness.capture()).repositories[0]?.tree ?? null;
  harness.sh('printf "same\\nfirst\\n" > a.txt', 'app');
  const first = await treeNow();
  harness.sh('printf "same\\nsecond\\n" > a.txt', 'app');
  const second = await treeNow();
  // Each tree is another text to the packer, so that thousands of the same do not become few bytes.
  const others = harness
    .sh(
      'for n in $(seq 3000); do printf "100644 blob %s\\ta.txt\\n100644 blob %s\\t$n\\n\\n" $(git rev-parse HEAD:a.txt HEAD:a.txt); done | git mktree --batch',
      'app',
    )
    .trim()
    .split('\n');
  const trees = [first, ...others, second];
  const nodes = trees.map((tree, at) => ({ tree, parents: at === 0 ? [] : [at - 1] }));
  const request = blameRequest(harness.root, nodes);
  const report = await createRepositories(programHere()).blame(harness.sandbox, request);
  expect(report).toMatchObject({ kind: 'lines', total: 2, sources: [{ node: 3001, path: 'a.txt' }] });
  const [blob = ''] = harness.sh('git rev-parse HEAD:a.txt', 'app').trim().split('\n');
  const commit = harness.sh('git rev-parse HEAD', 'app').trim();
  const one = async (entry: string) => {
    const tree = harness.sh(`printf '${entry}\\ta.txt\\n' | git mktree --missing`, 'app').trim();
    const nodes = [{ tree, parents: [] }];
    return (await createRepositories(programHere()).blame(harness.sandbox, { ...request, nodes })).kind;
  };
  expect(await one(`160000 commit ${commit}`)).toBe('submodule');
  expect(await one(`120000 blob ${blob}`)).toBe('link');
  expect(await one(`100755 blob ${blob}`)).toBe('lines');
  const missing = { ...request, nodes: [...request.nodes, { tree: 'f'.repeat(40), parents: [3001] }] };
  await expect(createRepositories(programHere()).blame(harness.sandbox, missing)).resolves.toEqual({
    kind: 'missing',
    nodes: [3002],
    bases: [],
  });
  // The first of many: what is said of the others does not fit into a pipe.
  const moved = nodes.map(({ tree, parents }) => ({ tree, parents: parents.map((at) => at + 1) }));
  const without = { ...request, nodes: [{ tree: 'f'.repeat(40), parents: [] }, ...moved] };
  await expect(createRepositories(programHere()).blame(harness.sandbox, without)).resolves.toEqual({
    kind: 'missing',
    nodes: [0],
    bases: [],
  });
});
