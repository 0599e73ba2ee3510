/** A cloud in a child process that is ended with `kill -9` in the middle of its functions. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Endpoints } from '../../local/services.ts';
import { invokerOf } from './cloud.ts';
import { STRIPE_KEY } from './saga-cloud.ts';

export interface Death {
  /** Whose requests are counted. */
  functions: readonly string[];
  /** Which of the requests that they make to services, from 1 on. */
  request: number;
  when: 'before' | 'after';
}

export type MortalCloudSays =
  | { kind: 'ready'; endpoints: Endpoints; environment: Readonly<Record<string, string>> }
  | { kind: 'armed' };

const CHILD = join(import.meta.dirname, 'mortal-cloud-child.ts');

export const startMortalCloud = async (dataDir: string, servicesUrl: string) => {
  const env = { ...process.env, REFUND_SERVICES_URL: servicesUrl, REFUND_STRIPE_KEY: STRIPE_KEY };
  const child = fork(CHILD, [dataDir, servicesUrl], { env, execArgv: [] });
  const ready = Promise.withResolvers<Extract<MortalCloudSays, { kind: 'ready' }>>();
  const armed = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  child.on('message', (said: MortalCloudSays) => {
    if (said.kind === 'ready') ready.resolve(said);
    else armed.resolve();
  });
  child.on('exit', (code, signal) => {
    gone.resolve();
    const error = new Error(`the cloud ended with ${code ?? signal}`);
    ready.reject(error);
    armed.reject(error);
  });
  armed.promise.catch(() => undefined);
  const invoke = invokerOf(await ready.promise);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone.promise;
  };
  return {
    invoke,
    /** The calls are made side by side; the process ends at that request. Answers which of them were not answered. */
    dieIn: async (death: Death, calls: readonly (() => Promise<unknown>)[]): Promise<boolean[]> => {
      child.send(death);
      await armed.promise;
      const lost = await Promise.all(
        calls.map((call) =>
          call().then(
            () => false,
            (error: unknown) => {
              // The connection broke. A refusal is for the test to see.
              if (!(error instanceof Error) || error.name === 'FunctionFailure') throw error;
              return true;
            },
          ),
        ),
      );
      await kill();
      return lost;
    },
    [Symbol.asyncDispose]: kill,
  };
};
