/** Processes of functions: others act between any two calls that one makes; it dies, or a service fails, before or after a call acted. */
import { WalkbackError } from '../../../core/shared/errors.ts';
import type { Random } from '../book/random.ts';
import type { Tally } from '../book/tally.ts';
import { type Counter, Death } from '../fakes/faults.ts';

interface ProcessDependencies {
  random: Random;
  tally: Tally;
  isCalm: () => boolean;
  /** Others do something. */
  interrupt: (share: number) => Promise<void>;
}

interface Process extends Counter {
  readonly isDead: boolean;
  die: () => never;
}

const OF_SANDBOXES = ['sandboxes', 'repositories'];

export const createProcesses = ({ random, tally, isCalm, interrupt }: ProcessDependencies) => {
  const acting = random.pick([0, 0.002, 0.01]);
  const dying = random.pick([0, 0.001, 0.004]);
  const failing = random.pick([0, 0.001, 0.003]);
  const breaking = random.pick([0, 0.02, 0.1]);
  const running: Process[] = [];

  const failed = (name: string): WalkbackError =>
    new WalkbackError(
      OF_SANDBOXES.includes(name) ? 'SandboxUnavailable' : 'StorageUnavailable',
      `${name} failed`,
      { retryable: true },
    );

  const createProcess = (): Process => {
    let isDead = false;
    const calls: string[] = [];
    const die = (): never => {
      isDead = true;
      throw new Death('killed');
    };
    const mayFail = (name: string, when: 'before' | 'after'): void => {
      if (isCalm()) return;
      const place = random.next();
      if (place < dying) {
        tally.count(`died ${when} a call`);
        die();
      }
      if (place >= dying + failing) return;
      tally.count(`failed ${when} a call`);
      throw failed(name);
    };
    const call = async (name: string, work: () => unknown): Promise<unknown> => {
      if (isDead) throw new Death(name);
      calls.push(name);
      await interrupt(acting);
      mayFail(name, 'before');
      const result = await work();
      mayFail(name, 'after');
      // It died while this call was under way.
      if (isDead) throw new Death(name);
      return result;
    };
    return {
      calls,
      die,
      get fired() {
        return isDead;
      },
      get isDead() {
        return isDead;
      },
      wrap: (name, port) =>
        new Proxy(port, {
          get: (target, property, receiver) => {
            const value: unknown = Reflect.get(target, property, receiver);
            if (typeof value !== 'function') return value;
            return (...given: unknown[]) => call(name, () => Reflect.apply(value, target, given) as unknown);
          },
        }),
    };
  };

  return {
    /** What is done in a process of its own. One that died answers nobody. */
    run: async <Answer>(work: (process: Process) => Promise<Answer>): Promise<Answer> => {
      const process = createProcess();
      running.push(process);
      try {
        const answer = await work(process);
        if (process.isDead) throw new Death('it answers nobody');
        return answer;
      } finally {
        running.splice(running.indexOf(process), 1);
      }
    },
    /** A file is about to be written. */
    atFile: (): void => {
      const process = running.at(-1);
      if (process === undefined || isCalm() || !random.chance(breaking)) return;
      tally.count('broke off at a file');
      if (random.chance(0.5)) process.die();
      throw failed('sandboxes');
    },
  };
};

export type Processes = ReturnType<typeof createProcesses>;
