import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { edit, fingerprint, ignoredFiles, openWorld, rootOf, sdkOf } from '../support/world.ts';

const test = inTurn('rehydrate-copies');

test('reviewers move their own copies, while the session goes on and is resumed elsewhere', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud);
  edit(world.root, 1);
  const first = await world.checkpoint('t1', 'msg-1');
  edit(world.root, 2);
  const second = await world.checkpoint('t2', 'msg-2');

  const review = async (messageId: string): Promise<string> => {
    const { sandboxId } = await cloud.invoke('rehydrate', { sessionId: 's1', messageId });
    return String(sandboxId);
  };
  const looks = (sandboxId: string): string[] => fingerprint(rootOf(cloud, sandboxId));
  const [one, two] = await Promise.all([review('msg-2'), review('msg-2')]);
  expect(looks(one)).toEqual(second.looks);
  expect(looks(two)).toEqual(second.looks);
  // What no capture holds is not there, in a fresh sandbox.
  expect(ignoredFiles(rootOf(cloud, one))).toEqual([]);

  edit(rootOf(cloud, one), 7);
  const changed = looks(one);
  edit(world.root, 3);
  const [back, third] = await Promise.all([
    cloud.invoke('rollback', { sessionId: 's1', messageId: 'msg-1', requestId: 'in-copy', sandboxId: one }),
    world.checkpoint('t3', 'msg-3'),
  ]);
  expect(looks(one)).toEqual(first.looks);
  expect(looks(two)).toEqual(second.looks);
  const { session, checkpoints } = await world.timeline();
  expect(session).toMatchObject({ epoch: 1, busy: null, sandboxId: world.sandboxId });
  expect(checkpoints.find(({ seq }) => seq === session.headSeq)?.checkpointId).toBe(third.checkpointId);
  await cloud.invoke('rollback', {
    sessionId: 's1',
    checkpointId: back['undoCheckpointId'],
    requestId: 'undo-in-copy',
    sandboxId: one,
  });
  expect(looks(one)).toEqual(changed);

  const copies = async () => {
    const { copies: found } = await cloud.invoke('list-copies', { sessionId: 's1' });
    return found as { sandboxId: string; endsAt: string; madeFor: string }[];
  };
  expect((await copies()).map(({ sandboxId }) => sandboxId).toSorted()).toEqual([one, two].toSorted());
  expect(Date.parse((await copies())[0]?.endsAt ?? '')).toBeGreaterThan(Date.now());
  const lostWith = async (sandboxId: string) =>
    (await cloud.invoke('delete-copy', { sandboxId, dryRun: true }))['work'];
  // One has what was undone there, and the other nothing of its own.
  expect(await lostWith(one)).toMatchObject({ changed: [], uncaptured: [] });
  edit(rootOf(cloud, two), 8, ['web']);
  expect(await lostWith(two)).toEqual({
    checkpointId: second.checkpointId,
    changed: ['web'],
    uncaptured: [],
  });
  expect(await cloud.invoke('delete-copy', { sandboxId: two })).toEqual({ sandboxId: two, deleted: true });
  expect(await cloud.invoke('delete-copy', { sandboxId: two })).toEqual({ sandboxId: two, deleted: false });

  // An earlier target than the newest: at the same time a rollback.
  const resumed = await cloud.invoke('rehydrate', { sessionId: 's1', messageId: 'msg-1', mode: 'resume' });
  expect(resumed).toMatchObject({ epoch: 2 });
  const left = world.sandboxId;
  world.sandboxId = String(resumed['sandboxId']);
  // The session works in one that a rehydrate made, and has left one that it did not.
  expect((await copies()).map(({ sandboxId }) => sandboxId)).toEqual([one]);
  for (const [sandboxId, errorType] of [
    [world.sandboxId, 'SessionConflict'],
    [left, 'InvalidInput'],
  ]) {
    await expect(cloud.invoke('delete-copy', { sandboxId })).rejects.toMatchObject({ errorType });
  }
  expect(world.fingerprint()).toEqual(first.looks);
  await expect(
    cloud.invoke('checkpoint', {
      sessionId: 's1',
      epoch: 1,
      messageId: 'msg-4',
      toolExecutionId: 'stale',
      reason: 'before-tool',
    }),
  ).rejects.toMatchObject({ errorType: 'StaleEpoch' });
  edit(world.root, 4);
  await world.checkpoint('t4', 'msg-4');
  await world.rollback('forward', third.checkpointId);
  expect(world.fingerprint()).toEqual(third.looks);
});

test('a copy or fork in whose directory a session was started is kept as long as that session works there', async () => {
  await using cloud = await startTestCloud();
  await openWorld(cloud);
  const sdk = sdkOf(cloud);
  /** As `session start --root` does it, in a directory inside the sandbox. */
  const startIn = async (sandboxId: string, sessionId: string): Promise<string> => {
    const root = join(rootOf(cloud, sandboxId), 'web');
    const mounted = await sdk.create({ volumeMounts: { [root]: root } });
    await cloud.invoke('start-session', { sessionId, sandboxId: mounted.sandboxId, projectsRoot: root });
    return mounted.sandboxId;
  };
  const copies = async () => (await cloud.invoke('list-copies', { sessionId: 's1' }))['copies'];

  const copy = String((await cloud.invoke('rehydrate', { sessionId: 's1' }))['sandboxId']);
  const inCopy = await startIn(copy, 'in-the-copy');
  expect(await copies()).toEqual([]);
  await expect(cloud.invoke('delete-copy', { sandboxId: copy })).rejects.toThrow(
    /^SessionConflict: Session "in-the-copy" works in sandbox/,
  );
  edit(rootOf(cloud, copy), 3, ['web']);
  await cloud.invoke('checkpoint', {
    sessionId: 'in-the-copy',
    messageId: 'm',
    toolExecutionId: 't',
    reason: 'before-tool',
  });
  await cloud.invoke('end-session', { sessionId: 'in-the-copy' });
  await sdk.kill(inCopy);
  expect(await copies()).toMatchObject([{ sandboxId: copy }]);
  expect(await cloud.invoke('delete-copy', { sandboxId: copy })).toMatchObject({ deleted: true });

  const fork = await cloud.invoke('fork-session', { sessionId: 's1', requestId: 'f1' });
  const discard = () => cloud.invoke('end-session', { sessionId: fork['sessionId'], discard: true });
  await startIn(String(fork['sandboxId']), 'in-the-fork');
  await expect(discard()).rejects.toMatchObject({ errorType: 'SessionConflict' });
  expect(await cloud.invoke('timeline', { sessionId: fork['sessionId'] })).toMatchObject({
    session: { status: 'active' },
  });
  await cloud.invoke('end-session', { sessionId: 'in-the-fork' });
  await discard();
  expect(existsSync(rootOf(cloud, String(fork['sandboxId'])))).toBe(false);
});
