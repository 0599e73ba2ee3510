/** Where the processor time of a step goes that the machine drives, in the whole embedded cloud. */
import type { Place } from '../place.ts';
import type { ProfiledCode } from '../processor-profile.ts';
import { startSagaCloud } from './cloud.ts';

const STEPS = 10;

export interface StepProfile {
  /** Of one step on average: the cloud, and its DynamoDB beside it. */
  cpuMs: number;
  databaseCpuMs: number;
  /** Of one step on average. */
  codes: ProfiledCode[];
}

export const profileStep = async (place: Place, sagas: number): Promise<StepProfile> => {
  await using cloud = await startSagaCloud(await place.directory('profile-saga'));
  const one = async (sagaId: string): Promise<void> => {
    const steps = Array.from({ length: STEPS }, (_, n) => ({
      id: `s${n}`,
      tool: 'change',
      arguments: { resource: `${sagaId}-${n}`, workMs: 0 },
    }));
    await cloud.invoke('start-saga', { sagaId, plan: { steps }, input: {}, requestedBy: 'bench' });
    await cloud.ended(sagaId);
  };
  // What is compiled and cached once is not what a step costs.
  for (let n = 0; n < sagas; n += 1) await one(`warm-${n}`);
  const before = await cloud.usage();
  for (let n = 0; n < sagas; n += 1) await one(`plain-${n}`);
  const after = await cloud.usage();
  const codes = await cloud.profiled(async () => {
    for (let n = 0; n < sagas; n += 1) await one(`profiled-${n}`);
  });
  const count = sagas * STEPS;
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / count,
    databaseCpuMs: (after.databaseCpuMs - before.databaseCpuMs) / count,
    codes: codes.map(({ code, cpuMs }) => ({ code, cpuMs: cpuMs / count })),
  };
};
