/** A session that ends takes along what it left in the sandbox, and nothing that another session needs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { edit, fingerprint, openWorld, shell } from '../support/world.ts';

interface Ended {
  status: string;
  cleaned?: { removed: { entries: { path: string }[]; files: number; bytes: number } };
}

test('two sessions over one directory: each takes its own, and the last one all', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud);
  const other = await cloud.invoke('start-session', {
    sessionId: 's2',
    sandboxId: world.sandboxId,
    projectsRoot: '/home/user/work',
  });
  edit(world.root, 1);
  await world.checkpoint('t1', 'msg-1');
  const looks = fingerprint(world.root);
  const ours = () =>
    shell(world.root, 'find . -name .git -prune -o -path "*.agent-shadow/*-s[12]*" -prune -print');
  expect(ours()).toContain('session-s1');
  const end = async (sessionId: string, more = {}): Promise<Ended> =>
    (await cloud.invoke('end-session', { sessionId, ...more })) as unknown as Ended;

  const before = ours();
  const plan = await end('s1', { dryRun: true });
  expect(ours()).toBe(before);
  expect(plan).toMatchObject({ status: 'PLANNED', cleaned: { removed: { files: expect.any(Number) } } });
  expect(plan.cleaned?.removed.bytes).toBeGreaterThan(4096);
  const done = await end('s1');
  expect(done.cleaned).toEqual(plan.cleaned);
  expect(ours()).not.toContain('-s1');
  expect(ours()).toContain('session-s2');
  expect(fingerprint(world.root)).toEqual(looks);
  // The same call again finds nothing.
  expect((await end('s1')).cleaned?.removed.entries).toEqual([]);

  edit(world.root, 2);
  await cloud.invoke('rollback', { sessionId: 's2', requestId: 'r', checkpointId: other['checkpointId'] });
  await end('s2');
  expect(ours()).toBe('');
  expect(existsSync(join(world.root, '.agent-shadow'))).toBe(false);
}, 120_000);
