/** The embedded cloud for a run, and sessions in it, driven as a customer drives them: through the Lambda endpoint. */

import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { Sandbox } from 'e2b';
import * as z from 'zod';
import { HOUR_MS } from '../contract/times.ts';
import { startCloud } from '../local/cloud.ts';
import { startCountingProxy } from './counting-proxy.ts';

const PROJECTS_ROOT = '/home/user/work';

const checkpointAnswer = z.object({
  checkpointId: z.string(),
  seq: z.number(),
  complete: z.boolean(),
  repositories: z.array(z.object({ bundleBytes: z.number() })),
});
const rollbackAnswer = z.object({ status: z.literal('APPLIED') });
const forkAnswer = z.object({ sessionId: z.string(), sandboxId: z.string() });
const rehydrateAnswer = z.object({ sandboxId: z.string() });

export type CheckpointFacts = z.output<typeof checkpointAnswer>;

export interface Trips {
  requests: number;
  sequential: number;
}

export interface BenchSession {
  sessionId: string;
  /** The projects root, on this machine. */
  root: string;
  /** Starts the session on what stands below the root, with its baseline checkpoint. */
  start(): Promise<void>;
  checkpoint(): Promise<CheckpointFacts>;
  rollback(checkpointId: string): Promise<void>;
  /** At its last checkpoint. */
  fork(): Promise<BenchSession>;
  /** Brings the last checkpoint of another session into this one. */
  merge(from: BenchSession): Promise<void>;
  /** Into a fresh sandbox; answers its id. */
  rehydrate(checkpointId: string): Promise<string>;
}

export interface BenchCloud {
  environment: Readonly<Record<string, string>>;
  /** For a client of Walkback. */
  lambda: LambdaClient;
  /** A new sandbox with an empty projects root, for one session. */
  openSession(sessionId: string): Promise<BenchSession>;
  killSandbox(sandboxId: string): Promise<void>;
  /** Does the work with the sandboxes behind a counting proxy, and then without it again. */
  countTrips(work: () => Promise<unknown>): Promise<Trips>;
  [Symbol.asyncDispose](): Promise<void>;
}

const SANDBOX_TIMEOUT_MS = HOUR_MS;

export const startBenchCloud = async (dataDir: string): Promise<BenchCloud> => {
  await using starting = new AsyncDisposableStack();
  const cloud = starting.use(await startCloud({ dataDir, announce: false }));
  const { environment, endpoints } = cloud;
  const e2b = {
    apiKey: environment['E2B_API_KEY'],
    apiUrl: endpoints.e2b,
    sandboxUrl: endpoints.e2b,
  };
  const lambda = new LambdaClient({
    region: environment['AWS_REGION'],
    endpoint: endpoints.lambda,
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    maxAttempts: 1,
    requestHandler: { requestTimeout: 600_000 },
  });
  starting.defer(() => lambda.destroy());
  const proxy = starting.use(await startCountingProxy(endpoints.e2b));
  let calls = 0;

  const invoke = async (name: string, event: unknown): Promise<unknown> => {
    const answer = await lambda.send(
      new InvokeCommand({ FunctionName: `walkback-${name}`, Payload: JSON.stringify(event) }),
    );
    const payload = answer.Payload?.transformToString() ?? 'null';
    if (answer.FunctionError !== undefined) throw new Error(`walkback-${name} failed: ${payload}`);
    return JSON.parse(payload);
  };

  const openSession = async (sessionId: string): Promise<BenchSession> => {
    const { sandboxId, commands } = await Sandbox.create({ ...e2b, timeoutMs: SANDBOX_TIMEOUT_MS });
    await commands.run(`mkdir -p ${PROJECTS_ROOT}`);
    return sessionIn(sessionId, sandboxId);
  };

  const sessionIn = (sessionId: string, sandboxId: string): BenchSession => {
    const next = () => `${sessionId}-${(calls += 1)}`;
    return {
      sessionId,
      root: join(dataDir, 'e2b', sandboxId, 'rootfs', PROJECTS_ROOT),
      start: async () => {
        await invoke('start-session', { sessionId, sandboxId, projectsRoot: PROJECTS_ROOT });
      },
      checkpoint: async () => {
        const event = { sessionId, messageId: 'm1', toolExecutionId: next(), reason: 'bench' };
        const answer = checkpointAnswer.parse(await invoke('checkpoint', event));
        if (!answer.complete) throw new Error('A checkpoint of the benchmark is not complete.');
        return answer;
      },
      rollback: async (checkpointId) => {
        rollbackAnswer.parse(await invoke('rollback', { sessionId, checkpointId, requestId: next() }));
      },
      fork: async () => {
        const answer = forkAnswer.parse(await invoke('fork-session', { sessionId, requestId: next() }));
        return sessionIn(answer.sessionId, answer.sandboxId);
      },
      merge: async (from) => {
        const event = { from: from.sessionId, into: sessionId, requestId: next() };
        rollbackAnswer.parse(await invoke('merge', event));
      },
      rehydrate: async (checkpointId) => {
        const event = { sessionId, checkpointId, requestId: next() };
        return rehydrateAnswer.parse(await invoke('rehydrate', event)).sandboxId;
      },
    };
  };

  const running = starting.move();
  return {
    environment,
    lambda,
    openSession,
    killSandbox: async (sandboxId) => {
      await Sandbox.kill(sandboxId, e2b);
    },
    countTrips: async (work) => {
      cloud.reconfigure({ E2B_API_URL: proxy.url, E2B_SANDBOX_URL: proxy.url });
      try {
        proxy.reset();
        await work();
        return { requests: proxy.requests(), sequential: proxy.sequential() };
      } finally {
        cloud.reconfigure({ E2B_API_URL: endpoints.e2b, E2B_SANDBOX_URL: endpoints.e2b });
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
