import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { describeCase, failAndRepeat, faultCases, openFaultLine } from '../support/fault-matrix.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { edit, ignoredFiles, openWorld, type Recorded } from '../support/world.ts';

const test = inTurn('faults-rollback');

const cloud = shared(startTestCloud);
const line = shared(() => openFaultLine(cloud()));
const world = shared(() => openWorld(cloud(), { paths: ['api', 'web'] }));

/** Then the target's objects must come from the bucket. */
const loseShadows = async (): Promise<void> => {
  for (const path of world().paths)
    await rm(join(world().root, path, '.agent-shadow'), { recursive: true, force: true });
};

test('whatever fails at whatever call of a rollback, the same call again finishes it, and it can be undone', async () => {
  edit(world().root, 1, world().paths);
  const targets: Recorded[] = [await world().checkpoint('first')];
  edit(world().root, 2, world().paths);
  targets.push(await world().checkpoint('second'));
  const target = (index: number): Recorded => {
    const found = targets[index % targets.length];
    if (found === undefined) throw new Error('no target');
    return found;
  };
  edit(world().root, 3, world().paths);
  const ignored = ignoredFiles(world().root);
  await loseShadows();
  const counts = await line().count(() => world().rollback('clean', target(0).checkpointId));
  expect(world().fingerprint()).toEqual(target(0).looks);

  let metCount = 0;
  const cases = faultCases('rollback', counts, { every: 180, whole: 16, minimum: 2 });
  for (const [index, fault] of cases.entries()) {
    const name = describeCase(fault);
    const { checkpointId, looks } = target(index);
    edit(world().root, index + 4, world().paths);
    const before = world().fingerprint();
    const { epoch } = (await world().timeline()).session;
    await loseShadows();

    const { met, answer: second } = await failAndRepeat(
      line(),
      fault,
      () => world().rollback(`r${index}`, checkpointId),
      ['RollbackIncomplete'],
    );
    if (met) metCount += 1;
    expect(second, name).toMatchObject({ status: 'APPLIED', checkpointId, epoch: epoch + 1 });
    expect(world().fingerprint(), name).toEqual(looks);
    const { session, checkpoints } = await world().timeline();
    expect(session, name).toMatchObject({ epoch: epoch + 1, busy: null });
    expect(checkpoints.find(({ seq }) => seq === session.headSeq)?.checkpointId, name).toBe(checkpointId);

    await world().rollback(`u${index}`, String(second['undoCheckpointId']));
    expect(world().fingerprint(), `undo of ${name}`).toEqual(before);
  }
  expect(metCount).toBeGreaterThanOrEqual(cases.length / 2);
  expect(ignoredFiles(world().root)).toEqual(ignored);
}, 1_800_000);
