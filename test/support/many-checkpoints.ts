/** Many checkpoints of many sessions at once: each is taken, or says that it may be tried again. */
import { expect } from 'vitest';
import { FunctionFailure, type TestCloud } from './cloud.ts';
import { edit, openWorld } from './world.ts';

const PATHS = ['api'];

/** How many were taken and how many answered `Throttled`; anything else fails. */
export const takeManyAtOnce = async (
  cloud: TestCloud,
  { sessions, each }: { sessions: number; each: number },
): Promise<{ taken: number; throttled: number }> => {
  const worlds = [];
  for (let n = 0; n < sessions; n++) {
    const world = await openWorld(cloud, { sessionId: `many-${n}`, paths: PATHS });
    edit(world.root, n, PATHS);
    worlds.push(world);
  }
  const calls = worlds.flatMap(({ sessionId }) =>
    Array.from({ length: each }, (_, at) => ({ sessionId, toolExecutionId: `t${at}`, messageId: `m${at}` })),
  );
  const outcomes = await Promise.allSettled(
    calls.map((call) => cloud.invoke('checkpoint', { ...call, reason: 'before-tool' })),
  );
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  for (const reason of refused) {
    if (!(reason instanceof FunctionFailure) || reason.errorType !== 'Throttled') throw reason;
  }
  // What was refused is taken when it is asked for again, and nothing is there twice.
  for (const [at, call] of calls.entries()) {
    if (outcomes[at]?.status === 'rejected')
      await cloud.invoke('checkpoint', { ...call, reason: 'before-tool' });
  }
  for (const world of worlds) {
    const { checkpoints } = await world.timeline();
    expect(checkpoints.map(({ toolExecutionId }) => toolExecutionId).toSorted()).toEqual(
      ['walkback-baseline', ...Array.from({ length: each }, (_, at) => `t${at}`)].toSorted(),
    );
    expect(new Set(checkpoints.map(({ seq }) => seq)).size).toBe(each + 1);
  }
  return { taken: calls.length - refused.length, throttled: refused.length };
};
