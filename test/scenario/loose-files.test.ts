/** Files that lie in no repository, on the embedded cloud: a directory without git, alone and beside repositories. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { answered } from '../support/error-of.ts';
import { files, gitState } from '../support/fingerprint.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { openWorld, rootOf, SANDBOX_ROOT, sdkOf, shell } from '../support/world.ts';

const test = sampledTest('loose-files', 2);

const NOTES = `printf 'one\\ntwo\\nthree\\n' > plan.md; mkdir -p drafts/old empty; echo draft > drafts/old/a.txt; printf '*.log\\n' > .gitignore
echo kept > run.log; ln -s plan.md link; chmod 600 drafts/old/a.txt`;

/** All files of a directory, without what Walkback keeps. */
const looks = (root: string): string[] => files(root).filter((line) => !/ run\.log /.test(line));

const begin = async (cloud: TestCloud, script: string, settings: object = {}, sessionId = 's1') => {
  const { sandboxId } = await sdkOf(cloud).create({ timeoutMs: 3_600_000 });
  const root = rootOf(cloud, sandboxId);
  await mkdir(root, { recursive: true });
  shell(root, script);
  const started = await cloud.invoke('start-session', {
    sessionId,
    sandboxId,
    projectsRoot: SANDBOX_ROOT,
    ...settings,
  });
  let calls = 0;
  return {
    sessionId,
    root,
    sandboxId,
    started,
    checkpoint: async (messageId: string) => {
      calls += 1;
      return cloud.invoke('checkpoint', {
        sessionId,
        messageId,
        toolExecutionId: `t${calls}`,
        reason: 'before-tool',
      });
    },
    call: (name: string, input: object) => cloud.invoke(name, { sessionId, ...input }),
  };
};

test('a directory without git is captured and rolled back, undone, compared, blamed and built anew', async () => {
  await using cloud = await startTestCloud();
  const it = await begin(cloud, NOTES);
  expect(it.started).toMatchObject({
    complete: true,
    repositories: [{ path: '.', branch: null, head: null, isLoose: true }],
  });
  const before = looks(it.root);
  const first = await it.checkpoint('m1');
  shell(
    it.root,
    `sed -i s/two/2/ plan.md; rm -r drafts empty; rm link; mkdir link; echo new > link/new.txt; echo more >> run.log`,
  );
  const after = looks(it.root);
  const second = await it.checkpoint('m2');
  expect(second).toMatchObject({ complete: true, repositories: [{ path: '.', change: 'changed' }] });

  const { repositories } = (await it.call('diff', { from: 'm1', to: 'm2' })) as {
    repositories: { diff: string }[];
  };
  expect(repositories[0]?.diff).toContain('-two\n+2');
  const blamed = await it.call('blame', { path: 'plan.md', requestId: 'b' });
  expect(blamed).toMatchObject({
    repository: '.',
    origins: expect.arrayContaining([expect.objectContaining({ messageId: 'm2' })]),
  });

  const back = await it.call('rollback', { messageId: 'm1', requestId: 'r1' });
  expect(back).toMatchObject({
    status: 'APPLIED',
    repositories: [{ path: '.', action: 'restored' }],
    warnings: [],
  });
  expect(looks(it.root)).toEqual(before);
  // What git would ignore stays.
  expect(shell(it.root, 'cat run.log')).toBe('kept\nmore\n');
  const { undoCheckpointId } = back as { undoCheckpointId: string };
  await it.call('rollback', { checkpointId: undoCheckpointId, requestId: 'r2' });
  expect(looks(it.root)).toEqual(after);
  await it.call('revert', { messageId: 'm2', requestId: 'v1' });
  expect(looks(it.root)).toEqual(before);

  const copy = (await it.call('rehydrate', { checkpointId: second['checkpointId'], mode: 'review' })) as {
    sandboxId: string;
  };
  expect(looks(rootOf(cloud, copy.sandboxId))).toEqual(after);
  expect(existsSync(join(it.root, '.git'))).toBe(false);
  expect(existsSync(join(rootOf(cloud, copy.sandboxId), '.git'))).toBe(false);
  expect(first['complete']).toBe(true);
});

test('a fork of a directory without git merges back, and conflicts are named', async () => {
  await using cloud = await startTestCloud();
  const it = await begin(cloud, NOTES);
  await it.checkpoint('m1');
  const fork = (await it.call('fork-session', { requestId: 'f' })) as {
    sessionId: string;
    sandboxId: string;
  };
  const forkRoot = rootOf(cloud, fork.sandboxId);
  expect(looks(forkRoot)).toEqual(looks(it.root));
  shell(forkRoot, 'sed -i s/three/3/ plan.md; echo theirs > theirs.txt');
  shell(it.root, 'sed -i s/one/1/ plan.md; echo mine > mine.txt');
  const inFork = (messageId: string) =>
    cloud.invoke('checkpoint', {
      sessionId: fork.sessionId,
      messageId,
      toolExecutionId: messageId,
      reason: 'r',
    });
  await inFork('f1');
  const from = { from: fork.sessionId, into: it.sessionId };
  expect(await cloud.invoke('merge', { ...from, requestId: 'g1' })).toMatchObject({ status: 'APPLIED' });
  expect(shell(it.root, 'cat plan.md mine.txt theirs.txt')).toBe('1\ntwo\n3\nmine\ntheirs\n');
  shell(forkRoot, 'echo a > both.txt');
  await inFork('f2');
  shell(it.root, 'echo b > both.txt');
  await expect(cloud.invoke('merge', { ...from, requestId: 'g2' })).rejects.toMatchObject({
    errorType: 'ChangesetConflict',
  });
});

test('beside repositories, what lies in none is captured where it is asked for', async () => {
  await using cloud = await startTestCloud();
  const script = `${NOTES}; git init -q -b main api; echo 1 > api/a.txt; git -C api add -A; git -C api commit -qm one; mkdir -p shelf/box; echo loose > shelf/box/note`;
  const it = await begin(cloud, script, { looseFiles: true });
  expect(it.started).toMatchObject({
    repositories: [
      { path: '.', isLoose: true },
      { path: 'api', branch: 'main', commits: 1 },
    ],
  });
  const world = () => [...looks(it.root), ...gitState(join(it.root, 'api'))];
  const before = world();
  await it.checkpoint('m1');
  shell(
    it.root,
    'echo 2 > api/a.txt; git -C api commit -qam two; rm -r shelf; echo x > plan.md; git init -q -b main web; echo w > web/w; git -C web add w; git -C web commit -qm w',
  );
  const after = world();
  const second = await it.checkpoint('m2');
  expect(await it.call('rollback', { messageId: 'm1', requestId: 'r1' })).toMatchObject({
    status: 'APPLIED',
  });
  expect(world()).toEqual(before);
  await it.call('rollback', { checkpointId: second['checkpointId'], requestId: 'r2' });
  expect(world()).toEqual(after);
  const copy = (await it.call('rehydrate', { messageId: 'm1', mode: 'review' })) as { sandboxId: string };
  const copied = rootOf(cloud, copy.sandboxId);
  expect([...looks(copied), ...gitState(join(copied, 'api'))]).toEqual(before);
  // Without being asked, only the repositories.
  const other = await begin(cloud, script, {}, 's2');
  expect(other.started).toMatchObject({ repositories: [{ path: 'api' }] });
});

test('a repository that is made in such a directory goes with a rollback, and comes back', async () => {
  await using cloud = await startTestCloud();
  const it = await begin(cloud, 'echo one > a.txt');
  const before = files(it.root);
  await it.checkpoint('m1');
  shell(it.root, 'git init -q -b main .; echo two > a.txt; git add a.txt; git commit -qm two');
  const second = await it.checkpoint('m2');
  const commit = shell(it.root, 'git rev-parse HEAD');
  const warnings = [expect.stringMatching(/^\.: it had no repository then; its \.git is put aside/)];
  const goal = { messageId: 'm1', requestId: 'r1' };
  expect(await it.call('rollback', { ...goal, dryRun: true })).toMatchObject({ status: 'PLANNED', warnings });
  expect(await it.call('rollback', goal)).toMatchObject({ status: 'APPLIED', warnings });
  expect(files(it.root)).toEqual(before);
  expect(existsSync(join(it.root, '.git'))).toBe(false);
  expect(await it.call('rollback', { checkpointId: second['checkpointId'], requestId: 'r2' })).toMatchObject({
    warnings: ['.: it has no repository now; its .git comes back'],
  });
  expect(shell(it.root, 'cat a.txt; git rev-parse HEAD; git status --porcelain')).toBe(`two\n${commit}`);
});

test('an empty directory begins a session, and what is too large or refused does not', async () => {
  await using cloud = await startTestCloud();
  const it = await begin(cloud, ':');
  shell(it.root, 'echo one > a.txt');
  await it.checkpoint('m1');
  await it.call('rollback', { checkpointId: it.started['checkpointId'], requestId: 'r1' });
  expect(files(it.root)).toEqual([]);

  const many = 'mkdir m; cd m; seq 50001 | xargs touch';
  await expect(begin(cloud, many, {}, 's2')).rejects.toMatchObject(
    answered('LooseFilesTooLarge', 'holds 50001 files in no git repository. At most 50000 files'),
  );
  const odd = `printf 'm\\n' > .gitignore; ${many}; cd ..; echo x > $'new\\nline'; echo x > "it's -x"`;
  await begin(cloud, odd, {}, 's3');
  await begin(cloud, many, { exclude: ['m/*'] }, 's4');
  const ignored = `printf 'm\\n' > .gitignore; ${many}`;
  await expect(begin(cloud, ignored, { include: ['m/**'] }, 's8')).rejects.toMatchObject({
    errorType: 'LooseFilesTooLarge',
  });
  // A file over the limit is left out, and does not count.
  await begin(cloud, 'truncate -s 5G huge; echo a > a', { maxFileBytes: 1_000_000 }, 's5');
  await expect(begin(cloud, 'truncate -s 200M 1 2 3 4 5 6', {}, 's6')).rejects.toMatchObject(
    answered('LooseFilesTooLarge', 'holds 6 files with 1200 MiB in no git repository'),
  );
  await expect(begin(cloud, 'echo a > a', { looseFiles: false }, 's7')).rejects.toMatchObject({
    errorType: 'NoRepositories',
  });
});

test('the root of a repository has nothing loose', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['.'], settings: { looseFiles: true } });
  expect((await world.timeline()).checkpoints).toHaveLength(1);
  const { sessions } = (await cloud.invoke('list-sessions', {})) as { sessions: { repositories: number }[] };
  expect(sessions).toMatchObject([{ repositories: 1 }]);
});
