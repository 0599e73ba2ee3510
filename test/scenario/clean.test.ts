/** What `walkback clean` deletes: all that a cloud made, and nothing else. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listKept } from '../../local/clean.ts';
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
