import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { openCliScene } from '../support/cli.ts';

test('it ends by itself when nobody uses it', async () => {
  await using scene = await openCliScene();
  const { ended } = await scene.start(['up', '--json', '--idle', '0.001']);
  expect(await ended).toBe(0);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
});

/** In a checkout whose code is not in Node's cache of compiled code, which a first start may be. */
const MOST_RESIDENT_KB = 160_000;

test('one that nobody has used yet has loaded little', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
  const { pid } = await scene.json(['up', '--detach']);
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  await scene.run(['down']);
  expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(MOST_RESIDENT_KB);
});

test('what it cannot start with is told by its name', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
  const { code, stderr } = await scene.run([
    'up',
    '--detach',
    '--json',
    '--functions',
    join(scene.work, 'none'),
  ]);
  expect(code).toBe(7);
  expect(JSON.parse(stderr)).toMatchObject({ error: { name: 'ConfigurationError' } });
});

test('a client that may not start one says what to do', async () => {
  await using scene = await openCliScene();
  const walkback = new Walkback({ dataDir: scene.dataDir, start: false });
  await expect(walkback.sessions.list()).rejects.toMatchObject({
    name: 'CloudUnavailable',
    message: expect.stringContaining('walkback up'),
  });
});

test('the doctor finds nothing wrong here, starts nothing, and names what is missing', async () => {
  await using scene = await openCliScene();
  const { ok, checks } = await scene.json(['doctor']);
  expect(ok).toBe(true);
  expect(checks).toHaveLength(11);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
  await mkdir(scene.dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${scene.dataDir}/dead-letters.jsonl`, '{}\n{}\n');
  const left = await scene.run(['doctor']);
  expect(left.code).toBe(7);
  expect(left.stdout).toContain(`2 in ${scene.dataDir}/dead-letters.jsonl`);
  await using poor = await openCliScene({ PATH: scene.work });
  const { code, stdout, stderr } = await poor.run(['doctor', '--json']);
  expect(code).toBe(7);
  const told: { checks: { id: string; ok: boolean; advice: string }[] } = JSON.parse(stdout);
  expect(told.checks.filter((one) => !one.ok).map(({ id }) => id)).toEqual(['git', 'bash', 'tools']);
  for (const { ok: isOk, advice } of told.checks) expect(advice === '').toBe(isOk);
  expect(JSON.parse(stderr)).toMatchObject({ error: { name: 'ConfigurationError', exitCode: 7 } });
});
