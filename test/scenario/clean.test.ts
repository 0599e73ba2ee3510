/** What `walkback clean` deletes: all that a cloud made, and nothing else. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listKept } from '../../local/clean.ts';
import { loadCredentials } from '../../local/credentials.ts';
import { startTestCloud } from '../support/cloud.ts';
import { runCommand } from '../support/recording-app.ts';
import { openWorld } from '../support/world.ts';

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
