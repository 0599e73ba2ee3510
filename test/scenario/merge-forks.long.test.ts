/** Forks and merges on the embedded cloud: real git in real sandboxes. */
import { expect, test } from 'vitest';
import type { DiscardedFork } from '../../contract/checkpoint-answers.ts';
import { startTestCloud } from '../support/cloud.ts';
import { mergeStage, PATHS } from '../support/merge-stage.ts';
import { shared } from '../support/shared.ts';
import { fingerprint, rootOf, sandboxIds, shell } from '../support/world.ts';

const cloud = shared(startTestCloud);
const stage = shared(() => mergeStage(cloud()));

test('a fork with no changes merges as nothing; into a source that stood still its work comes as it is', async () => {
  const world = await stage().open();
  const fork = await stage().forkOf(world);
  expect(fork.looks()).toEqual(world.fingerprint());
  expect(await stage().merge(fork, world, 'm0')).toMatchObject({ status: 'NOTHING', undoCheckpointId: null });

  shell(
    `${fork.root}/api`,
    'echo work > a.txt; git add -A; git commit -qm "in the fork"; git switch -qc topic',
  );
  shell(fork.root, 'echo w > web/w; chmod 600 web/w; mkdir new; cd new; git init -q -b main; echo n > n');
  await fork.checkpoint('f');
  const before = world.fingerprint();
  const planned = await stage().merge(fork, world, 'm1', { dryRun: true });
  expect(planned.status).toBe('PLANNED');
  expect(world.fingerprint()).toEqual(before);

  const merged = await stage().merge(fork, world, 'm1');
  expect(merged.status).toBe('APPLIED');
  const all = [...PATHS, 'new'];
  expect(fingerprint(world.root, all)).toEqual(fingerprint(fork.root, all));
  expect(await stage().merge(fork, world, 'm1')).toEqual(merged);
  expect(await stage().merge(fork, world, 'm2')).toMatchObject({ status: 'NOTHING' });

  await world.rollback('undo', String(merged.undoCheckpointId));
  expect(world.fingerprint()).toEqual(before);
  // What was undone is not there any more, so it can come again.
  expect((await stage().merge(fork, world, 'm3')).status).toBe('APPLIED');
  expect(fingerprint(world.root, all)).toEqual(fingerprint(fork.root, all));
});

test('both sides stay, in all repositories; one conflict anywhere changes nothing, and is mended in the fork', async () => {
  const world = await stage().open();
  const fork = await stage().forkOf(world);
  shell(world.root, 'seq 9 > api/o; echo ours > web/name.txt');
  shell(fork.root, 'seq 8 > api/t; echo theirs > web/name.txt; echo also > web/also');
  await fork.checkpoint('f1');
  const before = world.fingerprint();
  const { session } = await world.timeline();
  await expect(stage().merge(fork, world, 'm1')).rejects.toMatchObject({
    errorType: 'ChangesetConflict',
    message: expect.stringContaining('web/name.txt (content'),
  });
  expect((await stage().merge(fork, world, 'm1', { dryRun: true })).conflicts).toMatchObject([
    { repository: 'web', path: 'name.txt', kind: 'content' },
  ]);
  expect(world.fingerprint()).toEqual(before);
  expect((await world.timeline()).session.epoch).toBe(session.epoch);

  // The source has to be captured before its work can come into the fork.
  await world.checkpoint('t1', 'msg-1');
  await expect(stage().merge(world, fork, 'back')).rejects.toMatchObject({ errorType: 'ChangesetConflict' });
  await expect(stage().merge(fork, world, 'm2', { markers: true })).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
  const brought = await stage().merge(world, fork, 'back-2', { markers: true });
  expect(brought.conflicts).toMatchObject([{ repository: 'web', path: 'name.txt' }]);
  expect(shell(fork.root, 'cat web/name.txt api/o | head -5')).toMatch(
    /^<<<<<<< now\ntheirs\n=======\nours\n>>>>>>>/,
  );
  shell(fork.root, 'echo both > web/name.txt');
  await fork.checkpoint('f2');
  const merged = await stage().merge(fork, world, 'm3');
  expect(merged.status).toBe('APPLIED');
  expect(shell(world.root, 'cat web/name.txt web/also api/o api/t')).toContain('both\nalso\n');
  expect(fork.looks()).toEqual(world.fingerprint());
});

test('the last message taken back is what a rollback restores', async () => {
  const world = await stage().open();
  const first = await world.checkpoint('t1', 'msg-1');
  shell(world.root, 'echo x > api/a.txt; rm -r web/src; cd web; git commit -qam second; echo more > more');
  await world.checkpoint('t2', 'msg-2');
  shell(world.root, 'echo since > api/since');
  await cloud().invoke('revert', { sessionId: world.sessionId, requestId: 'r', messageId: 'msg-2' });
  expect(world.fingerprint()).toEqual(first.looks);
});

test('a fork that is discarded is gone with its sandbox, and no other session can be', async () => {
  const world = await stage().open();
  const fork = await stage().forkOf(world);
  expect(await stage().forkOf(world)).toMatchObject({ sessionId: fork.sessionId, sandboxId: fork.sandboxId });
  await expect(
    cloud().invoke('end-session', { sessionId: world.sessionId, discard: true }),
  ).rejects.toMatchObject({ errorType: 'InvalidInput' });
  shell(fork.root, 'echo last > web/last.txt');
  const looks = fork.looks();
  const ended = await cloud().invoke('end-session', { sessionId: fork.sessionId, discard: true });
  const left = await sandboxIds(cloud());
  expect(left).toContain(world.sandboxId);
  expect(left).not.toContain(fork.sandboxId);
  await cloud().invoke('end-session', { sessionId: fork.sessionId, discard: true });

  const { lastCheckpointId } = ended['discarded'] as DiscardedFork;
  const look = { sessionId: fork.sessionId, checkpointId: lastCheckpointId };
  const copy = await cloud().invoke('rehydrate', look);
  expect(fingerprint(rootOf(cloud(), String(copy['sandboxId'])), PATHS)).toEqual(looks);
});
