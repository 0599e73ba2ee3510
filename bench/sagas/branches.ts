/** One child against forty, on the machine of the embedded cloud: time, and what a child costs. */

import { quantile } from '../numbers.ts';
import type { SagaCloud } from './cloud.ts';

/** Of the tool. Children are for work that takes a while; with quick calls, what forty sagas cost the processor is all that is seen. */
const WORK_MS = 2_000;
const REPEATS = 3;

export interface Branches {
  count: number;
  wallMs: number;
  /** With indexes. */
  writeUnits: number;
  /** Of the root and of its first child. */
  rootTransitions: number;
  childTransitions: number;
}

const step = (id: string, resource: string) => ({
  id,
  tool: 'change',
  arguments: { resource, workMs: WORK_MS },
});

const stepsOf = (count: number, name: string) => {
  if (count === 0) return [step('alone', name)];
  const branches = Array.from({ length: count }, (_, n) => ({
    id: `b${n}`,
    plan: { steps: [step('one', `${name}-${n}`)] },
  }));
  return [{ id: 'all', branches }];
};

/** `count` 0: the step itself, without a child. */
export const measureBranches = async (
  cloud: SagaCloud,
  count: number,
  name = 'branches',
): Promise<Branches> => {
  const times: number[] = [];
  const units: number[] = [];
  const idOf = (n: number) => `${name}-${count}-${n}`;
  for (let n = 0; n < REPEATS; n += 1) {
    const sagaId = idOf(n);
    const before = (await cloud.units()).writes;
    const began = performance.now();
    const plan = { steps: stepsOf(count, sagaId) };
    await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'bench' });
    const name = await cloud.ended(sagaId);
    times.push(performance.now() - began);
    if (name !== 'saga.completed') throw new Error(`${sagaId} ended with ${name}`);
    // Children are sealed a moment after their root has ended.
    for (let b = 0; b < count; b += 1) await cloud.sealed(`${sagaId}.all.b${b}`);
    units.push((await cloud.units()).writes - before);
  }
  return {
    count,
    wallMs: quantile(times, 0.5),
    writeUnits: quantile(units, 0.5),
    rootTransitions: await cloud.transitions(idOf(0)),
    childTransitions: count === 0 ? 0 : await cloud.transitions(`${idOf(0)}.all.b0`),
  };
};
