import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findRunningCloud } from '../../local/data-dir.ts';
import { openCliScene } from '../support/cli.ts';

test('it ends by itself when nobody uses it', async () => {
  await using scene = await openCliScene();
  const { ended } = await scene.start(['up', '--json', '--idle', '0.001']);
  expect(await ended).toBe(0);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
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
