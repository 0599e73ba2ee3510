/** Sessions that were stored before bases had owners. */
import { describe, expect, test } from 'vitest';
import { createWorkingStage, SANDBOX, type Stage } from '../support/fakes/stage.ts';

/** The tables as the release before left them. */
const forgetOwners = (stage: Stage): void => {
  const { bases, checkpoints } = stage.store.tables;
  const before = [...bases];
  for (const [name, base] of before) {
    bases.delete(name);
    const { owner: _, ...ownerless } = base;
    bases.set(`\n${base.name}`, ownerless);
  }
  for (const { repositories } of checkpoints.values()) {
    for (const state of repositories) delete state.baseOwner;
  }
};

describe('a session from before bases had owners', () => {
  test('goes on, and every checkpoint of it restores', async () => {
    const stage = await createWorkingStage();
    forgetOwners(stage);
    const old = stage.checkpoints().map(({ checkpointId }) => checkpointId);
    expect((await stage.instance().checkpoint('m3', 't3')).complete).toBe(true);
    const files = stage.world.filesOf(SANDBOX);
    const copy = await stage.instance().rehydrate({ messageId: 'm3' });
    expect(stage.world.filesOf(copy.sandboxId)).toEqual(files);
    for (const checkpointId of old) await stage.instance().rehydrate({ checkpointId });
  });

  test('brings a base of its own with its next chain', async () => {
    const stage = await createWorkingStage();
    forgetOwners(stage);
    for (let at = 1; at <= 64; at++) {
      stage.edit('api', { 'a.txt': `version ${at}` });
      expect((await stage.instance().checkpoint('m3', `t-${at}`)).complete).toBe(true);
    }
    const head = stage
      .checkpoints()
      .at(-1)
      ?.repositories.find(({ path }) => path === 'api');
    expect(head).toMatchObject({ baseOwner: 'session/session-1' });
    const copy = await stage.instance().rehydrate({ messageId: 'm3' });
    expect(stage.world.filesOf(copy.sandboxId)).toEqual(stage.world.filesOf(SANDBOX));
  });

  test('whose sandbox lost its objects starts over on the base it stands on', async () => {
    const stage = await createWorkingStage();
    forgetOwners(stage);
    const sandbox = stage.world.running.get(SANDBOX);
    sandbox?.commits.clear();
    sandbox?.snapshots.clear();
    expect((await stage.instance().checkpoint('m3', 't3')).complete).toBe(true);
    await stage.instance().rehydrate({ messageId: 'm3' });
  });
});
