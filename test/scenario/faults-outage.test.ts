/** A service that is away for longer than anybody's patience, and a sandbox that dies under a rollback. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { edit, fingerprint, openWorld, type Recorded, rootOf, sandboxIds, sdkOf } from '../support/world.ts';

const test = inTurn('faults-outage');
const runIf = (isChosen: boolean) => (isChosen ? test : test.skip);

const PATHS = ['api', 'web'];

let target: Recorded;
let edits = 0;
const change = (): void => edit(world().root, ++edits, PATHS);

const cloud = shared(startTestCloud);
const world = shared(() => openWorld(cloud(), { paths: PATHS }));
beforeAll(async () => {
  change();
  target = await world().checkpoint('target');
});

/** One operation a service; all of them in a whole run. */
describe.each([
  { service: 's3', errorType: 'StorageUnavailable', operation: 'rollback' },
  { service: 'dynamodb', errorType: 'StorageUnavailable', operation: 'checkpoint' },
  { service: 'e2b', errorType: 'SandboxUnavailable', operation: 'rehydrate' },
] as const)('$service is away', ({ service, errorType, operation }) => {
  const away = () => cloud().interpose(service, [{ action: { kind: 'status', status: 503 } }]);

  runIf(WHOLE || operation === 'checkpoint')(
    'a checkpoint fails and leaves nothing; later the same call takes it',
    async () => {
      change();
      const before = await world().timeline();
      await away();
      await expect(world().checkpoint(`${service}-t`)).rejects.toMatchObject({ errorType });
      cloud().heal();
      expect(await world().timeline()).toEqual(before);
      await world().checkpoint(`${service}-t`);
      expect((await world().timeline()).checkpoints).toHaveLength(before.checkpoints.length + 1);
    },
  );

  runIf(WHOLE || operation === 'rollback')(
    'a rollback fails and changes no file; later the same call finishes it',
    async () => {
      change();
      // So that S3 is needed.
      for (const path of PATHS) await rm(join(world().root, path, '.agent-shadow'), { recursive: true });
      const looks = world().fingerprint();
      const { epoch } = (await world().timeline()).session;
      await away();
      await expect(world().rollback(`${service}-r`, target.checkpointId)).rejects.toMatchObject({
        errorType,
      });
      cloud().heal();
      expect(world().fingerprint()).toEqual(looks);
      const answer = await world().rollback(`${service}-r`, target.checkpointId);
      expect(answer).toMatchObject({ status: 'APPLIED', epoch: epoch + 1 });
      expect(world().fingerprint()).toEqual(target.looks);
      await world().rollback(`${service}-u`, String(answer['undoCheckpointId']));
      expect(world().fingerprint()).toEqual(looks);
    },
  );

  runIf(WHOLE || operation === 'rehydrate')(
    'a rehydrate fails and leaves no sandbox; later the same call answers one',
    async () => {
      const others = await sandboxIds(cloud());
      const event = { sessionId: 's1', checkpointId: target.checkpointId, requestId: `${service}-h` };
      await away();
      await expect(cloud().invoke('rehydrate', event)).rejects.toMatchObject({ errorType });
      cloud().heal();
      expect(await sandboxIds(cloud())).toEqual(others);
      const sandboxId = String((await cloud().invoke('rehydrate', event))['sandboxId']);
      expect(fingerprint(rootOf(cloud(), sandboxId), PATHS)).toEqual(target.looks);
      expect(await sandboxIds(cloud())).toEqual([...others, sandboxId].toSorted());
    },
  );
});

test('the sandbox dies under a rollback: it fails, and both its target and its undo can be resumed', async () => {
  change();
  const looks = world().fingerprint();
  const START = { path: '/process.Process/Start' };
  const killed = Promise.withResolvers<void>();
  const e2b = await cloud().interpose('e2b', [
    { match: START, at: 2, action: { kind: 'hold', until: killed.promise } },
  ]);
  const rollback = world()
    .rollback('dies', target.checkpointId)
    .catch((error: unknown) => error);
  await e2b.reached(2, START);
  await sdkOf(cloud()).kill(world().sandboxId);
  killed.resolve();
  expect(await rollback).toMatchObject({ errorType: 'SandboxNotFound' });
  cloud().heal();
  const newest = (await world().timeline()).checkpoints[0];
  expect(newest).toMatchObject({ reason: 'rollback', complete: true });
  for (const [requestId, checkpointId, expected] of [
    ['to-undo', newest?.checkpointId, looks],
    ['to-target', target.checkpointId, target.looks],
  ] as const) {
    const resumed = await cloud().invoke('rehydrate', {
      sessionId: 's1',
      mode: 'resume',
      requestId,
      checkpointId,
    });
    world().sandboxId = String(resumed['sandboxId']);
    expect(world().fingerprint(), requestId).toEqual(expected);
  }
  change();
  await world().checkpoint('goes-on');
});
