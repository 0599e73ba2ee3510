/** Through the functions: a checkpoint keeps which entries the stash had, and what goes back to it says which are not there. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { openWorld, shell } from '../support/world.ts';

const test = inTurn('stash');

const cloud = shared(startTestCloud);

test('work that a checkpoint found in the stash: plan, rollback and copy say that it is not there', async () => {
  const world = await openWorld(cloud(), { paths: ['api', 'web'] });
  const api = join(world.root, 'api');
  const id = shell(api, 'git stash push -q; git rev-parse stash@{0}').trim();
  const { checkpointId } = await world.checkpoint('t1', 'msg-1');
  // Nothing changed in `web`, so its state is carried on.
  shell(api, 'git stash pop -q');
  await world.checkpoint('t2', 'msg-2');

  const request = { sessionId: world.sessionId, checkpointId };
  const gone = `api: the stash is in no checkpoint, and these of its entries are gone since: ${id}. "git stash apply ID" brings one back while git has it`;
  const plan = await cloud().invoke('rollback', { ...request, requestId: 'plan', dryRun: true });
  expect(plan['warnings']).toEqual([gone]);
  const done = await cloud().invoke('rollback', { ...request, requestId: 'back' });
  expect([done['status'], done['warnings']]).toEqual(['APPLIED', [gone]]);
  const copy = await cloud().invoke('rehydrate', { ...request, requestId: 'copy' });
  expect(copy['warnings']).toEqual([
    `api: the stash is in no checkpoint, and these of its entries do not come with it: ${id}`,
  ]);

  const forked = await cloud().invoke('fork-session', {
    sessionId: world.sessionId,
    checkpointId: done['undoCheckpointId'],
    requestId: 'fork',
  });
  expect(forked['warnings'], 'it was not in the stash any more').toEqual([]);
});
