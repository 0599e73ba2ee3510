/** A git that fails, is killed or never ends while it is asked who wrote a file, or how many files there are: a fault of the call, and nothing of it stays. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { blameRequest } from '../support/blame-request.ts';
import { errorOf } from '../support/error-of.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { programHere } from '../support/sandbox-program.ts';

const repositories = createRepositories(programHere());

/** A repository with one capture, and a sandbox whose git does this in the place of one command. */
const openWorld = async (command: string, does: string) => {
  const harness = await withTwoFiles(['app']);
  const tree = (await harness.capture()).repositories[0]?.tree ?? '';
  const [bin, temporary] = ['bin', 'tmp'].map((name) => join(harness.root, '..', name)) as [string, string];
  mkdirSync(bin);
  mkdirSync(temporary);
  const stub = `#!/bin/bash\ncase " $* " in *' ${command} '*) ${does} ;; *) PATH=\${PATH#*:} exec git "$@" ;; esac\n`;
  writeFileSync(join(bin, 'git'), stub, { mode: 0o755 });
  const variables = { PATH: `${bin}:${process.env['PATH']}`, HOME: temporary, TMPDIR: temporary };
  return {
    harness,
    tree,
    nodes: [{ tree, parents: [] }],
    temporary,
    sandbox: processSandbox(variables),
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
};

test.each([
  ['cat-file', 'kill -KILL $$', {}, 'git was ended by signal 9'],
  ['cat-file', 'echo out of memory >&2; exit 128', {}, 'git cannot look for the captures: out of memory'],
  ['cat-file --batch', 'kill -KILL $$', {}, 'git was ended by signal 9'],
  ['cat-file --batch', 'echo out of memory >&2; exit 128', {}, 'out of memory'],
  ['log', 'kill -KILL $$', { file: 'gone.txt' }, 'git was ended by signal 9'],
  ['blame', 'exit 1', {}, 'git failed and said nothing'],
  ['blame', 'kill -KILL $$', {}, 'git was ended by signal 9'],
  ['blame', 'echo fatal: out of memory >&2; exit 128', {}, 'out of memory'],
  ['blame', 'printf half; exit 0', {}, 'its answer is not whole'],
  ['blame', 'exec sleep 100', { timeoutMs: 4_000 }, 'it reached its deadline'],
] as const)('a %s that does %s tells nobody who wrote a file', async (command, does, more, why) => {
  await using world = await openWorld(command, does);
  const request = blameRequest(world.harness.root, world.nodes, more);
  await expect(repositories.blame(world.sandbox, request)).rejects.toMatchObject({
    name: 'SandboxUnavailable',
    retryable: true,
    message: expect.stringContaining(why),
  });
  expect(readdirSync(world.temporary)).toEqual([]);
});

test("a file that is gone is nobody's where git cannot tell who removed it", async () => {
  await using world = await openWorld('log', 'exit 128');
  const request = blameRequest(world.harness.root, world.nodes, { file: 'gone.txt' });
  expect(await repositories.blame(world.sandbox, request)).toEqual({ kind: 'absent' });
});

test.each([
  ['exit 128', 'a bundle cannot be read'],
  ['kill -KILL $$', 'git was ended by signal 9'],
])('a bundle that git cannot take (%s) ends the call, and goes', async (does, why) => {
  await using world = await openWorld('index-pack', does);
  const { root } = world.harness;
  world.harness.sh('git bundle create -q ../../bundle HEAD', 'app');
  const bytes = readFileSync(join(root, '../bundle'));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const bundle = { kind: 'base' as const, sha256, sizeBytes: bytes.length, bytes, commit: '' };
  const request = blameRequest(root, world.nodes, { bundles: [bundle] });
  await expect(repositories.blame(world.sandbox, request)).rejects.toMatchObject(
    errorOf('SandboxUnavailable', why),
  );
  expect(readdirSync(world.temporary)).toEqual([]);
  expect(readdirSync(join(root, '.agent-shadow/in-s1'))).toEqual([]);
});

test('a path is looked for by a git that lives, and a repository that is not there has nothing', async () => {
  await using world = await openWorld('cat-file', 'kill -KILL $$');
  const { harness, tree, sandbox } = world;
  const trees = ['gone', 'app'].map((path) => ({ path, tree }));
  const request = { sessionId: 's1', projectsRoot: harness.root, file: 'a.txt', trees, timeoutMs: 60_000 };
  expect(await repositories.findFile(harness.sandbox, request)).toEqual(['app']);
  await expect(repositories.findFile(sandbox, request)).rejects.toMatchObject(
    errorOf('SandboxUnavailable', 'git was ended by signal 9'),
  );
});

test.each([
  ['kill -KILL $$', 'git was ended by signal 9'],
  ['echo no >&2; exit 128', 'git cannot list the files: no'],
])('files are not counted by a git that does %s', async (does, why) => {
  await using world = await openWorld('ls-files', does);
  const request = {
    projectsRoot: world.harness.root,
    include: [],
    exclude: [],
    mostFiles: 10,
    maxFileBytes: 10,
    timeoutMs: 60_000,
  };
  await expect(repositories.countLooseFiles(world.sandbox, request)).rejects.toMatchObject({
    name: 'SandboxUnavailable',
    retryable: true,
    message: expect.stringContaining(why),
  });
  expect(readdirSync(world.temporary)).toEqual([]);
  expect(await repositories.countLooseFiles(world.harness.sandbox, request)).toEqual({ files: 0, bytes: 0 });
});
