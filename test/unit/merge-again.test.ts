/** Which bundles a merge brings: what the other side did since the last one, and everything where the sandbox lacks it. */
import { expect, test, vi } from 'vitest';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const CHECKPOINTS = 4;

const forked = async () => {
  const stage = await createWorkingStage();
  const fork = await stage.instance().fork();
  let worked = 0;
  /** A few checkpoints of the fork; the links of `web` that the bucket has for them. */
  const work = async (): Promise<string[]> => {
    const before = new Set(stage.bucket.objects.keys());
    for (let n = 0; n < CHECKPOINTS; n++) {
      worked += 1;
      stage.edit('web', { 'fork.txt': `change ${worked}` }, fork.sandboxId);
      await stage.instance().checkpoint(`f${worked}`, `f${worked}`, { sessionId: fork.sessionId });
    }
    return [...stage.bucket.objects.keys()].filter(
      (key) => isLinkOf(fork.sessionId, key) && !before.has(key),
    );
  };
  return { stage, forkId: fork.sessionId, work };
};

const isLinkOf = (sessionId: string, key: string): boolean =>
  key.startsWith(`sessions/${sessionId}/`) && key.endsWith('.bundle');

/** Merges, and answers the fork's objects that were read for it, each as often as it was. */
const merged = async (stage: Stage, forkId: string, requestId: string): Promise<string[]> => {
  const get = vi.spyOn(stage.bucket, 'get');
  const answer = await stage.instance().merge({ from: forkId, into: SESSION, requestId });
  expect(answer.status).toBe('APPLIED');
  const read = get.mock.calls.map(([{ key }]) => key).filter((key) => isLinkOf(forkId, key));
  get.mockRestore();
  return read.toSorted();
};

const fileOf = (stage: Stage) => stage.world.running.get(SANDBOX)?.repositories.get('web')?.files['fork.txt'];

test('a fork that is merged again brings the links since the last merge, each once', async () => {
  const { stage, forkId, work } = await forked();
  for (let round = 1; round <= 3; round++) {
    const made = await work();
    const read = await merged(stage, forkId, `g${round}`);
    expect(fileOf(stage)).toBe(`change ${round * CHECKPOINTS}`);
    // The first time, all of the chain that the fork began.
    if (round > 1) expect(read).toEqual(made.toSorted());
    expect(new Set(read).size).toBe(read.length);
    expect(read).toEqual(expect.arrayContaining(made));
  }
});

test('where the sandbox lost what an earlier merge brought, everything is brought', async () => {
  const { stage, forkId, work } = await forked();
  const first = await work();
  await merged(stage, forkId, 'g1');
  const second = await work();
  const sandbox = stage.world.running.get(SANDBOX);
  sandbox?.snapshots.clear();
  sandbox?.commits.clear();
  const read = await merged(stage, forkId, 'g2');
  expect(fileOf(stage)).toBe(`change ${2 * CHECKPOINTS}`);
  expect(read).toEqual(expect.arrayContaining([...first, ...second]));
});

test('a chain that the fork began since is brought from its beginning', async () => {
  const { stage, forkId, work } = await forked();
  await work();
  await merged(stage, forkId, 'g1');
  const chains = () =>
    new Set(
      [...stage.store.tables.links.values()]
        .filter(({ sessionId, repositoryPath }) => sessionId === forkId && repositoryPath === 'web')
        .map(({ chainId }) => chainId),
    ).size;
  const before = chains();
  const made: string[] = [];
  while (chains() === before) made.push(...(await work()));
  const read = await merged(stage, forkId, 'g2');
  expect(read.length).toBeLessThan(CHECKPOINTS + 1);
  expect(made).toEqual(expect.arrayContaining(read));
});

test('a fork of a fork merges into the first source, and one behind too many is told to begin anew', async () => {
  const stage = await createWorkingStage();
  const into = SESSION;
  let last = { sessionId: SESSION, sandboxId: SANDBOX };
  const merge = (requestId: string) => stage.instance().merge({ from: last.sessionId, into, requestId });
  const forkOn = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++)
      last = await stage.instance().fork({ sessionId: last.sessionId, requestId: `f${n}` });
    stage.edit('web', { 'deep.txt': `behind ${count}` }, last.sandboxId);
    await stage.instance().checkpoint('deep', 'deep', { sessionId: last.sessionId });
  };
  await forkOn(20);
  expect((await merge('near')).status).toBe('APPLIED');
  expect(stage.world.running.get(SANDBOX)?.repositories.get('web')?.files['deep.txt']).toBe('behind 20');
  await forkOn(60);
  const before = stage.session();
  await expect(merge('far')).rejects.toMatchObject({
    name: 'InvalidInput',
    message: expect.stringMatching(/more than 50 sessions one after the other/),
  });
  expect(stage.session()).toEqual(before);
});

test('a fork in which nothing changed is nothing to merge, whatever was captured in it, undone there, or done in its source', async () => {
  const { stage, forkId, work } = await forked();
  const merge = (requestId: string, more = {}) =>
    stage.instance().merge({ from: forkId, into: SESSION, requestId, ...more });
  stage.edit('web', { 'mine.txt': 'mine' });
  await stage.instance().checkpoint('m9', 't9');
  await stage.instance().checkpoint('f0', 'f0', { sessionId: forkId });
  const before = stage.session();
  for (const dryRun of [true, false])
    expect(await merge('g1', { dryRun })).toMatchObject({ status: 'NOTHING', undoCheckpointId: null });

  await work();
  await stage.instance().rollback({ sessionId: forkId, messageId: 'f0', requestId: 'back' });
  expect(await merge('g2')).toMatchObject({ status: 'NOTHING' });
  // Nor is there anything in it for a fork of that fork.
  const other = await stage.instance().fork({ sessionId: forkId, requestId: 'other' });
  await stage.instance().checkpoint('o0', 'o0', { sessionId: other.sessionId });
  expect(await merge('g3', { from: other.sessionId })).toMatchObject({ status: 'NOTHING' });
  expect(stage.session()).toEqual(before);
  expect(fileOf(stage)).toBeUndefined();

  await work();
  expect(await merge('g4')).toMatchObject({ status: 'APPLIED' });
  expect(fileOf(stage)).toBe(`change ${2 * CHECKPOINTS}`);
});

test('a fork whose merge was taken back by a revert comes again, and with it what came since in both', async () => {
  const { stage, forkId, work } = await forked();
  const merge = (requestId: string, more = {}) =>
    stage.instance().merge({ from: forkId, into: SESSION, requestId, ...more });
  await work();
  const { checkpointId } = await merge('g1');
  await stage.instance().revert({ checkpointIds: [checkpointId], requestId: 'r1' });
  expect(fileOf(stage)).toBeUndefined();
  // Nothing of it is in a fork that begins there either, such as one in which it is verified.
  const staging = await stage.instance().fork({ requestId: 'staging' });
  expect(await merge('s1', { into: staging.sessionId })).toMatchObject({ status: 'APPLIED' });
  // It comes into the fork without its work being taken back there.
  stage.edit('notes', { 'mine.txt': 'mine' });
  await stage.instance().checkpoint('m9', 't9');
  await merge('f1', { from: SESSION, into: forkId });

  expect(await merge('g2', { dryRun: true })).toMatchObject({ status: 'PLANNED' });
  expect(await merge('g2')).toMatchObject({ status: 'APPLIED' });
  expect(fileOf(stage)).toBe(`change ${CHECKPOINTS}`);
  expect(stage.world.filesOf(SANDBOX)['notes']).toMatchObject({ 'mine.txt': 'mine' });
  expect(await merge('g3')).toMatchObject({ status: 'NOTHING' });
});

test('a fork to which the revert of a merge came gets that work again when it is merged there', async () => {
  const { stage, forkId, work } = await forked();
  await work();
  const { checkpointId } = await stage.instance().merge({ from: forkId, into: SESSION, requestId: 'g1' });
  const other = await stage.instance().fork({ requestId: 'other' });
  const file = () => stage.world.running.get(other.sandboxId)?.repositories.get('web')?.files['fork.txt'];
  expect(file()).toBe(`change ${CHECKPOINTS}`);
  await stage.instance().revert({ checkpointIds: [checkpointId], requestId: 'r1' });
  await stage.instance().merge({ from: SESSION, into: other.sessionId, requestId: 'o1' });
  expect(file()).toBeUndefined();
  const again = await stage.instance().merge({ from: forkId, into: other.sessionId, requestId: 'o2' });
  expect([again.status, file()]).toEqual(['APPLIED', `change ${CHECKPOINTS}`]);
});

test('a merge that brings nothing because a revert took the work back names that revert, and taking it back brings the work', async () => {
  const { stage, forkId } = await forked();
  const fork = stage.store.tables.sessions.get(forkId)?.sandboxId;
  let asked = 0;
  const requestId = () => `r${(asked += 1)}`;
  const merge = (more = {}) =>
    stage.instance().merge({ from: forkId, into: SESSION, requestId: requestId(), ...more });
  const work = async (name: string) => {
    stage.edit('web', { [name]: name }, fork);
    await stage.instance().checkpoint(name, name, { sessionId: forkId });
  };
  const has = (name: string) =>
    stage.world.running.get(SANDBOX)?.repositories.get('web')?.files[name] === name;

  await work('one');
  const first = await merge();
  await work('two');
  const second = await merge();
  expect(second.warnings).toEqual([]);
  const revert = (id: string) => stage.instance().revert({ checkpointIds: [id], requestId: requestId() });
  const reverted = await revert(first.checkpointId);
  expect([has('one'), has('two')]).toEqual([false, true]);
  const says = [
    expect.stringMatching(
      `${first.checkpointId} brought was taken back by the revert ${reverted.checkpointId}.*walkback revert ${reverted.checkpointId} --session ${SESSION}`,
    ),
  ];
  for (const dryRun of [true, false])
    expect(await merge({ dryRun })).toMatchObject({ status: 'NOTHING', warnings: says });
  await work('three');
  expect(await merge({ dryRun: true })).toMatchObject({ status: 'PLANNED', warnings: says });
  await merge();
  expect([has('one'), has('three')]).toEqual([false, true]);
  expect(await merge()).toMatchObject({ status: 'NOTHING', warnings: says });
  await revert(reverted.checkpointId);
  expect([has('one'), has('two'), has('three')]).toEqual([true, true, true]);
  expect(await merge()).toMatchObject({ status: 'NOTHING', warnings: [] });
});

test('a merge that was made again after a revert of it is nothing that a revert took back', async () => {
  const { stage, forkId, work } = await forked();
  const merge = (requestId: string) => stage.instance().merge({ from: forkId, into: SESSION, requestId });
  await work();
  const { checkpointId } = await merge('g1');
  await stage.instance().revert({ checkpointIds: [checkpointId], requestId: 'v1' });
  expect((await merge('g2')).status).toBe('APPLIED');
  expect(await merge('g3')).toMatchObject({ status: 'NOTHING', warnings: [] });
});
