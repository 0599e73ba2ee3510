import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import {
  describeCase,
  type FaultLine,
  failAndRepeat,
  faultCases,
  openFaultLine,
} from '../support/fault-matrix.ts';
import { edit, fingerprint, openWorld, type Recorded, rootOf, type World } from '../support/world.ts';

let cloud: TestCloud;
let line: FaultLine;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  line = await openFaultLine(cloud);
  world = await openWorld(cloud, { paths: ['api', 'web'] });
});
afterAll(() => cloud.close());

test('whatever fails at whatever call of a checkpoint, the same call again makes exactly one', async () => {
  edit(world.root, 1, world.paths);
  const counts = await line.count(() => world.checkpoint('clean'));
  const recorded = new Map<string, Recorded>();
  let metCount = 0;
  for (const [index, fault] of faultCases('checkpoint', counts, {
    every: 40,
    whole: 2,
    minimum: 2,
  }).entries()) {
    const name = describeCase(fault);
    const tool = `t${index}`;
    edit(world.root, index + 2, world.paths);
    const looks = world.fingerprint();
    const { met, answer: second } = await failAndRepeat(line, fault, () => world.checkpoint(tool));
    if (met) metCount += 1;
    expect(second.looks, name).toEqual(looks);
    recorded.set(tool, second);
  }
  expect(metCount).toBeGreaterThanOrEqual(recorded.size / 2);
  const { checkpoints, session } = await world.timeline();
  const taken = checkpoints.filter(({ toolExecutionId }) => recorded.has(toolExecutionId));
  expect(taken.map(({ toolExecutionId }) => toolExecutionId).toReversed()).toEqual([...recorded.keys()]);
  expect(taken.every(({ complete, onHeadPath }) => complete && onHeadPath)).toBe(true);
  expect(session).toMatchObject({ epoch: 1, busy: null });

  // Every link is in the bucket: a copy is made from what the store alone holds, and visits some more of them.
  const copy = await cloud.invoke('rehydrate', { sessionId: 's1' });
  const sandboxId = String(copy['sandboxId']);
  const look = () => fingerprint(rootOf(cloud, sandboxId), world.paths);
  expect(look()).toEqual([...recorded.values()].at(-1)?.looks);
  for (const [tool, { checkpointId, looks }] of [...recorded].filter((_, index) => index % 3 === 0)) {
    await cloud.invoke('rollback', { sessionId: 's1', checkpointId, sandboxId, requestId: `visit-${tool}` });
    expect(look(), tool).toEqual(looks);
  }
}, 900_000);
