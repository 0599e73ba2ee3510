import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FunctionFailure, startTestCloud, type TestCloud } from '../support/cloud.ts';
import { describeCase, type FaultLine, faultCases, openFaultLine } from '../support/fault-matrix.ts';
import {
  edit,
  fingerprint,
  openWorld,
  type Recorded,
  rootOf,
  sandboxIds,
  sdkOf,
  type World,
} from '../support/world.ts';

const EXPECTED = ['SandboxUnavailable', 'StorageUnavailable', 'Throttled'];

let cloud: TestCloud;
let line: FaultLine;
let world: World;
let target: Recorded;
beforeAll(async () => {
  cloud = await startTestCloud();
  line = await openFaultLine(cloud);
  world = await openWorld(cloud, { paths: ['api', 'web'] });
  edit(world.root, 1, world.paths);
  await world.checkpoint('first');
  edit(world.root, 2, world.paths);
  target = await world.checkpoint('second');
});
afterAll(() => cloud.close());

describe.each([
  { mode: 'review', epochs: 0 },
  { mode: 'resume', epochs: 1 },
])('whatever fails at whatever call of a rehydrate', ({ mode, epochs }) => {
  test(`${mode}: the same call again answers one whole sandbox, and no other is left`, async () => {
    const rehydrate = (requestId: string) => cloud.invoke('rehydrate', { sessionId: 's1', requestId, mode });
    const counts = await line.count(() => rehydrate(`${mode}-clean`));
    let met = 0;
    for (const [index, fault] of faultCases(`rehydrate ${mode}`, counts, 14).entries()) {
      const name = describeCase(fault);
      const { epoch } = (await world.timeline()).session;
      const others = await sandboxIds(cloud);

      const first = await line.run(fault, () => rehydrate(`${mode}-${index}`));
      if (first.met) met += 1;
      if (first.outcome.status === 'rejected' && fault.kind !== 'killed') {
        expect(EXPECTED, name).toContain((first.outcome.reason as FunctionFailure).errorType);
      }
      const second = await rehydrate(`${mode}-${index}`);
      if (first.outcome.status === 'fulfilled') expect(second, name).toEqual(first.outcome.value);
      const sandboxId = String(second['sandboxId']);
      expect(fingerprint(rootOf(cloud, sandboxId), world.paths), name).toEqual(target.looks);
      expect(await sandboxIds(cloud), name).toEqual([...others, sandboxId].toSorted());
      const { session } = await world.timeline();
      expect(session, name).toMatchObject({
        epoch: epoch + epochs,
        busy: null,
        ...(mode === 'resume' && { sandboxId }),
      });
      const gone = mode === 'resume' ? world.sandboxId : sandboxId;
      if (mode === 'resume') world.sandboxId = sandboxId;
      await sdkOf(cloud).kill(gone);
    }
    expect(met).toBeGreaterThan(0);
  }, 1_800_000);
});
