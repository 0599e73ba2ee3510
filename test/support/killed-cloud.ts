/** The embedded cloud in a process of its own, as `walkback up` runs it, that is killed in the middle of what it is asked. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cloud } from '../../local/cloud.ts';
import { type CliScene, openCliScene } from './cli.ts';
import { invokerOf } from './cloud.ts';
import type { WorldCloud } from './world.ts';

export interface KilledCloud {
  /** The one that runs now. */
  readonly cloud: WorldCloud;
  /** Told of each cloud that is started after a kill. */
  onUp(tell: (cloud: WorldCloud) => void): void;
  /** `kill -9` of the whole cloud so long after `work` began; then a new one on the same data. */
  killDuring(work: () => Promise<unknown>, afterMs: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const timed = async <T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> => {
  const startedMs = performance.now();
  return { value: await work(), ms: performance.now() - startedMs };
};

export const startKilledCloud = async (): Promise<KilledCloud> => {
  const scene: CliScene = await openCliScene();
  const listeners: ((cloud: WorldCloud) => void)[] = [];
  const up = async (): Promise<{ cloud: WorldCloud; child: ChildProcess; ended: Promise<unknown> }> => {
    const { child, firstLine, ended } = await scene.start(['up', '--json']);
    const facts = JSON.parse(firstLine) as Pick<Cloud, 'endpoints' | 'environment' | 'dataDir'>;
    return { cloud: { ...facts, invoke: invokerOf(facts) }, child, ended };
  };
  let running = await up();
  return {
    get cloud() {
      return running.cloud;
    },
    onUp: (tell) => void listeners.push(tell),
    killDuring: async (work, afterMs) => {
      const lost = Promise.allSettled([work()]);
      await delay(afterMs);
      running.child.kill('SIGKILL');
      await Promise.all([running.ended, lost]);
      running = await up();
      for (const tell of listeners) tell(running.cloud);
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
};
