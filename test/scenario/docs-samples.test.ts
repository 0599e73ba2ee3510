/** The sample of docs/functions.md against the embedded cloud: a tool runs after its checkpoint, and not when that is refused. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as Sample from '../../examples/backend/checkpoint.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { errorOf } from '../support/error-of.ts';
import { openWorld, type World } from '../support/world.ts';

let cloud: TestCloud;
let world: World;
let sample: typeof Sample;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api'] });
  for (const [name, value] of Object.entries(cloud.environment)) vi.stubEnv(name, value);
  sample = await import('../../examples/backend/checkpoint.ts');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await cloud.close();
});

test('the tool runs after a checkpoint; when that is refused it does not, and the refusal has its name', async () => {
  const ran: string[] = [];
  const run = (epoch: number, toolExecutionId: string) =>
    sample.withCheckpoint(
      { sessionId: world.sessionId, epoch, forMessageId: 'm1', toolExecutionId },
      async () => {
        ran.push(toolExecutionId);
        return toolExecutionId;
      },
    );
  expect(await run(1, 'one')).toBe('one');
  const { checkpoints } = await world.timeline();
  expect(checkpoints[0]).toMatchObject({ toolExecutionId: 'one', reason: 'before-tool' });

  await world.rollback('r1', checkpoints.at(-1)?.checkpointId ?? '');
  await expect(run(1, 'two')).rejects.toMatchObject(errorOf('StaleEpoch', 'rolled back'));
  expect(ran).toEqual(['one']);
  expect(await run(2, 'three')).toBe('three');
});
