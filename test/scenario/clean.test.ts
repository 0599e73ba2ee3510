/** What `walkback clean` deletes: all that a cloud made, and nothing else. */
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { listKept } from '../../local/clean.ts';
import { loadCredentials } from '../../local/credentials.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { files } from '../support/fingerprint.ts';
import { runCommand } from '../support/recording-app.ts';
import { inTurn } from '../support/sampled-test.ts';
import { createRepositories, edit, openWorld, sdkOf, shell } from '../support/world.ts';

const test = inTurn('clean');

test('all that a cloud made goes, and nothing else, and never while it runs', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-clean-'));
  const dataDir = join(directory.path, 'data');
  const mine = join(directory.path, 'mine');
  await mkdir(join(mine, 'api'), { recursive: true });
  await writeFile(join(mine, 'api/file'), 'mine\n');
  const clean = (...more: string[]) => runCommand(['clean', '--data', dataDir, ...more]);

  expect(JSON.parse((await clean('--json')).stdout)).toMatchObject({ entries: [], deleted: false });
  let copy = '';
  const cloud = await startTestCloud({ dataDir });
  try {
    const world = await openWorld(cloud, { paths: ['api'] });
    await world.checkpoint('t-1');
    copy = String((await cloud.invoke('rehydrate', { sessionId: 's1' }))['sandboxId']);
    await symlink(mine, join(world.root, 'link-to-mine'));
    await cloud.settled();
    expect((await clean('--yes')).failure).toMatchObject({ name: 'DataDirInUse' });
    const { stdout, failure } = await clean('--dry-run');
    expect(failure).toBeUndefined();
    expect(stdout).toContain(`sandbox ${copy}, made from a checkpoint of session s1`);
    expect(stdout).toMatch(/runs a cloud in .*walkback down ends it; nothing is deleted before\.\n$/);
    expect((await cloud.invoke('timeline', { sessionId: 's1' }))['checkpoints']).toHaveLength(2);
  } finally {
    await cloud.close();
  }
  const made = (await readdir(dataDir)).toSorted();
  const kept = await listKept(dataDir);
  expect(kept.map(({ name }) => name).toSorted()).toEqual(made);
  expect(kept.find(({ name }) => name === 's3')?.bytes).toBeGreaterThan(0);

  await writeFile(join(dataDir, 'notes.txt'), 'somebody else’s\n');
  const shown = (await clean('--dry-run')).stdout;
  expect(shown).toContain('Would be deleted');
  expect(shown).toContain(`sandbox ${copy}, made from a checkpoint of session s1`);
  expect((await clean()).failure).toMatchObject({ name: 'InvalidInput' });
  expect(await readdir(dataDir)).toHaveLength(made.length + 1);

  expect((await clean('--yes')).failure).toBeUndefined();
  expect(await readdir(dataDir)).toEqual(['notes.txt']);
  expect(await readFile(join(mine, 'api/file'), 'utf8')).toBe('mine\n');
  await using again = await startTestCloud({ dataDir });
  expect(existsSync(join(again.dataDir, 'credentials.json'))).toBe(true);
});

test('a directory that no cloud was started over is somebody else’s, whatever its entries are called', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-clean-'));
  const { path } = directory;
  for (const name of ['tools', 's3', 'streams']) {
    await mkdir(join(path, name));
    await writeFile(join(path, name, 'mine'), 'mine\n');
  }
  const clean = () => runCommand(['clean', '--data', path, '--yes']);
  // As another vendor's command writes it.
  await writeFile(join(path, 'credentials.json'), '{"installed":{"client_id":"mine"}}');
  expect((await clean()).stdout).toContain('Nothing of an embedded cloud');
  expect((await readdir(path)).toSorted()).toEqual(['credentials.json', 's3', 'streams', 'tools']);
  expect(await readFile(join(path, 's3/mine'), 'utf8')).toBe('mine\n');
});

test('the tools of a project that a cloud keeps its data in stay; what serveTools made there goes', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-clean-'));
  const { path } = directory;
  await loadCredentials(path);
  await mkdir(join(path, 'tools/pay/tombstones'), { recursive: true });
  await writeFile(join(path, 'tools/mine.ts'), 'mine\n');
  await writeFile(join(path, 'notified.json'), '{"after":""}');
  const shown = await runCommand(['clean', '--data', path, '--yes']);
  expect(shown.stdout).toContain('tools/pay');
  expect(await readdir(path, { recursive: true })).toEqual(['tools', 'tools/mine.ts']);
  await using empty = await mkdtempDisposable(join(tmpdir(), 'walkback-clean-'));
  await mkdir(join(empty.path, 'tools/pay/tombstones'), { recursive: true });
  await loadCredentials(empty.path);
  await runCommand(['clean', '--data', empty.path, '--yes']);
  expect(existsSync(empty.path)).toBe(false);
  await mkdir(empty.path);
});

test('an empty --data is a variable that was not set, and not the default directory', async () => {
  for (const words of [['clean', '--yes'], ['session', 'list'], ['down']]) {
    const { failure, stdout } = await runCommand(['--data', '', ...words]);
    expect(failure, words[0]).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(stdout).toBe('');
  }
});

test('a data directory that is a file, or below one, has nothing of a cloud', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-clean-'));
  const file = join(directory.path, 'file');
  await writeFile(file, 'mine\n');
  for (const dataDir of [file, join(file, 'data')]) {
    const { stdout, failure } = await runCommand(['clean', '--data', dataDir, '--yes']);
    expect(failure).toBeUndefined();
    expect(stdout).toContain(`Nothing of an embedded cloud is in ${dataDir}.`);
  }
  expect(await readFile(file, 'utf8')).toBe('mine\n');
});

/** As `walkback session start` does it. */
const startOver = async (cloud: TestCloud, directory: string, sessionId: string): Promise<void> => {
  const { sandboxId } = await sdkOf(cloud).create({ volumeMounts: { [directory]: directory } });
  await cloud.invoke('start-session', { sessionId, sandboxId, projectsRoot: directory });
};

const ours = (directory: string): string =>
  shell(directory, 'find . -name .git -prune -o -path "*.agent-shadow/*" -prune -print | sort');

interface Part {
  entries: { path: string }[];
  files: number;
  bytes: number;
}
interface Told {
  deleted: boolean;
  directories: { directory: string; removed?: Part; kept?: Part; others?: Part; problem?: string }[];
}
const told = ({ stdout }: { stdout: string }): Told => JSON.parse(stdout) as Told;
const paths = (part: Part | undefined) => part?.entries.map(({ path }) => path);

test('what its sessions left in directories of this machine goes; what others may need and what is of the user stays', async () => {
  await using directory = await mkdtempDisposable(join(await realpath(tmpdir()), 'walkback-clean-'));
  const dataDir = join(directory.path, 'data');
  const [work, inner, lost] = ['my work', 'my work/inner', 'lost'].map((name) => join(directory.path, name));
  for (const root of [work, inner, lost]) {
    await mkdir(root ?? '', { recursive: true });
    createRepositories(root ?? '', ['api', 'web']);
  }
  if (work === undefined || inner === undefined || lost === undefined) throw new Error('no directories');
  const clean = (...more: string[]) => runCommand(['clean', '--data', dataDir, ...more]);
  const cloud = await startTestCloud({ dataDir });
  let whileItRan: Told | undefined;
  try {
    await startOver(cloud, work, 'open');
    await startOver(cloud, work, 'over');
    await startOver(cloud, inner, 'inside');
    await startOver(cloud, lost, 'lost');
    edit(work, 1, ['api', 'web']);
    await cloud.invoke('checkpoint', { sessionId: 'open', toolExecutionId: 't1', reason: 'turn' });
    shell(
      work,
      `cp -a api/.agent-shadow/session-open api/.agent-shadow/session-elsewhere
       mkdir -p .agent-shadow/run-open/old .agent-shadow/bin .agent-shadow/aside-open/1
       echo bundle > .agent-shadow/run-open/old/bundle; touch -d '20 minutes ago' .agent-shadow/run-open/old
       echo program > .agent-shadow/bin/program; echo mine > .agent-shadow/aside-open/1/mine`,
    );
    await rm(lost, { recursive: true });
    await cloud.settled();
    whileItRan = told(await clean('--dry-run', '--json'));
  } finally {
    await cloud.close();
  }
  const looks = files(work);
  const before = ours(work);
  const plan = told(await clean('--dry-run', '--json'));
  expect(plan).toEqual({ ...whileItRan, entries: expect.any(Array) });
  expect(ours(work)).toBe(before);
  const [goneNow, atWork, atInner] = plan.directories;
  expect(goneNow).toMatchObject({ directory: lost, problem: 'it is not there now' });
  expect([atWork?.directory, atInner?.directory]).toEqual([work, inner]);
  expect(paths(atWork?.removed)).toEqual(
    expect.arrayContaining([
      'api/.agent-shadow/session-open',
      'web/.agent-shadow/session-over',
      'inner/api/.agent-shadow/session-open',
      '.agent-shadow/run-open/old',
    ]),
  );
  expect(paths(atWork?.removed)).not.toContain('inner/api/.agent-shadow/session-inside');
  expect(paths(atInner?.removed)).toContain('api/.agent-shadow/session-inside');
  expect(paths(atWork?.kept)).toEqual(['.agent-shadow/aside-open']);
  expect(paths(atWork?.others)).toEqual(['api/.agent-shadow/session-elsewhere']);
  expect(atWork?.removed?.bytes).toBeGreaterThan(4096);

  const shown = (await clean('--dry-run')).stdout;
  expect(shown).toContain(`  .agent-shadow in ${lost} stays: it is not there now\n`);
  expect(shown).not.toContain(`\n  ${work}`);
  expect(shown).toMatch(/would be removed: \d+ files, [\d.]+ [KM]iB/);
  expect(shown).toMatch(/because it may hold files of yours: 1 file,[^]*\.agent-shadow\/aside-open +1 file /);
  expect(shown).toMatch(/another cloud may have its session:[^]*api\/\.agent-shadow\/session-elsewhere /);

  const done = told(await clean('--yes', '--json'));
  expect(done).toEqual({ ...plan, deleted: true, entries: expect.any(Array) });
  expect(existsSync(dataDir)).toBe(false);
  expect(files(work)).toEqual(looks);
  const left = ours(work);
  expect(left).not.toMatch(/session-(?:open|over|inside)|run-/);
  for (const path of ['api/.agent-shadow/session-elsewhere', '.agent-shadow/aside-open', '.agent-shadow/bin'])
    expect(left).toContain(`./${path}\n`);
  expect(existsSync(join(inner, 'web/.agent-shadow'))).toBe(false);
}, 120_000);

test('where a directory cannot be cleaned nothing is deleted, unless it is to be left alone', async () => {
  await using directory = await mkdtempDisposable(join(await realpath(tmpdir()), 'walkback-clean-'));
  const dataDir = join(directory.path, 'data');
  const work = join(directory.path, 'work');
  await mkdir(work);
  createRepositories(work, ['api']);
  const cloud = await startTestCloud({ dataDir });
  try {
    await startOver(cloud, work, 's1');
    await cloud.settled();
  } finally {
    await cloud.close();
  }
  const clean = (...more: string[]) => runCommand(['clean', '--data', dataDir, ...more]);
  const looks = files(work);
  const before = ours(work);
  await writeFile(join(dataDir, 'dynamodb/tables.sqlite'), 'no database\n');
  const plan = told(await clean('--dry-run', '--json'));
  expect(plan.directories).toMatchObject([{ directory: work, problem: expect.any(String) }]);
  const { failure } = await clean('--yes');
  expect(failure).toMatchObject({
    name: 'ConfigurationError',
    hint: expect.stringContaining('--keep-shadows'),
  });
  expect(failure?.message).toContain(work);
  expect(ours(work)).toBe(before);
  expect(existsSync(join(dataDir, 'credentials.json'))).toBe(true);
  // A deletion that broke off has removed the tables, so nothing is known of any session.
  await rm(join(dataDir, 'dynamodb'), { recursive: true });
  const [unknown] = told(await clean('--dry-run', '--json')).directories;
  expect([unknown?.removed?.files, unknown?.others?.entries.map(({ path }) => path)]).toEqual([
    0,
    expect.arrayContaining(['api/.agent-shadow/session-s1']),
  ]);
  const { stdout } = await clean('--yes', '--keep-shadows');
  expect(stdout).toContain(`  .agent-shadow in ${work} stays: as you asked\n`);
  expect(existsSync(dataDir)).toBe(false);
  expect([ours(work), files(work)]).toEqual([before, looks]);
}, 120_000);
