/** Every service fails at every call of a fork and of a merge, over the wire; the same call again finishes it, once. */
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import {
  describeCase,
  type FaultLine,
  failAndRepeat,
  faultCases,
  openFaultLine,
} from '../support/fault-matrix.ts';
import { type Fork, mergeStage } from '../support/merge-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { edit, fingerprint, rootOf, sandboxIds, shell, type World } from '../support/world.ts';

const test = sampledTest('faults-merge', 2);

let cloud: TestCloud;
let line: FaultLine;
let stage: ReturnType<typeof mergeStage>;
let world: World;
let fork: Fork;
beforeAll(async () => {
  cloud = await startTestCloud();
  line = await openFaultLine(cloud);
  stage = mergeStage(cloud);
  world = await stage.open();
  fork = await stage.forkOf(world);
});
afterAll(() => cloud.close());

test('whatever fails at whatever call of a merge, the same call again merges once, and it can be undone', async () => {
  /** Work in the fork with commits, and files beside it in the target. */
  const work = async (n: number): Promise<void> => {
    edit(fork.root, n, world.paths);
    await fork.checkpoint(`f${n}`);
    shell(world.root, `for r in api web; do echo ${n} > $r/mine-${n}; done`);
  };
  const withoutMine = (): string[] => world.fingerprint().filter((one) => !/\/mine-/.test(one));
  const merge = async (requestId: string): Promise<Record<string, unknown>> => {
    const answer = await cloud.invoke('merge', { from: fork.sessionId, into: world.sessionId, requestId });
    // Only a call that begins a merge looks at what its source holds beside its checkpoints.
    const warnings = (answer['warnings'] as string[]).filter(
      (one) => !/work that no checkpoint holds/.test(one),
    );
    return { ...answer, warnings };
  };

  await work(1);
  const counts = await line.count(() => merge('clean'));
  expect(withoutMine()).toEqual(fork.looks());
  let metCount = 0;
  const cases = faultCases('merge', counts, { every: 260, whole: 40, minimum: 1 });
  for (const [index, fault] of cases.entries()) {
    const name = describeCase(fault);
    await work(index + 2);
    const before = world.fingerprint();
    const { epoch } = (await world.timeline()).session;
    const sandboxes = await sandboxIds(cloud);
    const { met, answer } = await failAndRepeat(line, fault, () => merge(`m${index}`), [
      'RollbackIncomplete',
    ]);
    if (met) metCount += 1;
    expect(answer, name).toMatchObject({ status: 'APPLIED', epoch: epoch + 1 });
    expect(withoutMine(), name).toEqual(fork.looks());
    expect(shell(world.root, 'cat api/mine-* web/mine-* | wc -l').trim(), name).toBe(String(2 * (index + 2)));
    const { session, checkpoints } = await world.timeline();
    expect(session, name).toMatchObject({ epoch: epoch + 1, busy: null });
    const head = checkpoints.find(({ seq }) => seq === session.headSeq);
    expect(head, name).toMatchObject({ checkpointId: answer['checkpointId'], reason: 'merge' });
    expect(await sandboxIds(cloud), name).toEqual(sandboxes);

    await world.rollback(`u${index}`, String(answer['undoCheckpointId']));
    expect(world.fingerprint(), `undo of ${name}`).toEqual(before);
    await world.rollback(`a${index}`, String(answer['checkpointId']));
  }
  expect(metCount).toBeGreaterThanOrEqual(cases.length / 2);
});

test('whatever fails at whatever call of a fork, the same call again answers one fork in one sandbox', async () => {
  const take = (requestId: string) => cloud.invoke('fork-session', { sessionId: world.sessionId, requestId });
  const { looks } = await world.checkpoint('forked');
  const counts = await line.count(() => take('clean'));
  let metCount = 0;
  const cases = faultCases('fork', counts, { every: 260, whole: 40, minimum: 1 });
  for (const [index, fault] of cases.entries()) {
    const name = describeCase(fault);
    const others = await sandboxIds(cloud);
    const { met, answer } = await failAndRepeat(line, fault, () => take(`k${index}`));
    if (met) metCount += 1;
    const sandboxId = String(answer['sandboxId']);
    expect(fingerprint(rootOf(cloud, sandboxId), world.paths), name).toEqual(looks);
    expect(await sandboxIds(cloud), name).toEqual([...others, sandboxId].toSorted());
    expect((await world.timeline()).session, name).toMatchObject({ busy: null });
    await cloud.invoke('end-session', { sessionId: answer['sessionId'], discard: true });
    expect(await sandboxIds(cloud), `discarded after ${name}`).toEqual(others);
  }
  expect(metCount).toBeGreaterThanOrEqual(cases.length / 2);
});
