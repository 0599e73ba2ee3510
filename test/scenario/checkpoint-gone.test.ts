/** What is gone is absent, whatever was known of it; what is there and cannot be captured is said. */
import { rmSync, symlinkSync } from 'node:fs';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { createRepositories, edit, openWorld } from '../support/world.ts';

const test = inTurn('checkpoint-gone');

test('a repository that could never be captured and goes away ends nothing', async () => {
  const cloud = await startTestCloud();
  try {
    const world = await openWorld(cloud, { paths: ['api'] });
    const take = (id: string) =>
      cloud.invoke('checkpoint', {
        sessionId: 's1',
        messageId: id,
        toolExecutionId: id,
        reason: 'before-tool',
      });
    expect((await take('m1'))['complete']).toBe(true);

    // A clone in which we may not write, and one that is captured.
    createRepositories(world.root, ['vendor', 'seen']);
    symlinkSync('/nowhere', `${world.root}/vendor/.agent-shadow`);
    edit(world.root, 1, ['api']);
    const second = await take('m2');
    expect(second['complete']).toBe(false);
    expect(JSON.stringify(second['failures'])).toMatch(
      /vendor\/.agent-shadow is a symlink.*rename or remove/,
    );

    rmSync(`${world.root}/vendor`, { recursive: true });
    rmSync(`${world.root}/seen`, { recursive: true });
    edit(world.root, 2, ['api']);
    const third = await take('m3');
    expect([third['failures'], third['complete']]).toEqual([[], true]);
    const before = world.fingerprint();
    expect((await take('m4'))['complete']).toBe(true);

    const back = await cloud.invoke('rollback', { sessionId: 's1', messageId: 'm1', requestId: 'back' });
    expect(back['warnings'] ?? []).toEqual([]);
    await cloud.invoke('rollback', { sessionId: 's1', messageId: 'm4', requestId: 'forth' });
    expect(world.fingerprint()).toEqual(before);
  } finally {
    await cloud.close();
  }
});
