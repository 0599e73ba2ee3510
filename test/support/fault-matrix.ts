/**
 * Every fault at every call of an operation: fault proxies in front of S3, DynamoDB and E2B at once, a count of the
 * calls of a clean run, and the cases that follow from it. `SEED` chooses the sample of an earlier run.
 */
import { expect } from 'vitest';
import type { FunctionFailure, TestCloud } from './cloud.ts';
import type { FaultAction } from './fault-actions.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { printedSeed, sampled } from './sampling.ts';

const SERVICES = ['s3', 'dynamodb', 'e2b'] as const;
type FaultedService = (typeof SERVICES)[number];

const ACTIONS: Record<string, FaultAction> = {
  'status 500': { kind: 'status', status: 500 },
  'status 503': { kind: 'status', status: 503 },
  dropped: { kind: 'drop' },
  'lost answer': { kind: 'lose-answer' },
  'answer cut off': { kind: 'cut-answer', afterBytes: 40 },
  'delivered twice': { kind: 'duplicate' },
  /** Nothing gets through to any service from this call on: the function was killed. */
  killed: { kind: 'freeze' },
};

export interface FaultCase {
  service: FaultedService;
  /** Which call of the service, from 1. */
  at: number;
  kind: string;
}

export type CallCounts = Record<FaultedService, number>;

export const describeCase = ({ service, at, kind }: FaultCase): string => `${service} call ${at} ${kind}`;

/** A sample spread over services, calls and kinds; another one each time, and never an empty one. */
export const faultCases = (
  name: string,
  counts: CallCounts,
  sample: { every: number; whole: number; minimum: number },
): FaultCase[] => {
  const all = SERVICES.flatMap((service) =>
    Array.from({ length: counts[service] }, (_, index) => index + 1).flatMap((at) =>
      Object.keys(ACTIONS).map((kind) => ({ service, at, kind })),
    ),
  );
  const chosen = sampled(all, { ...sample, offset: printedSeed(`faults of ${name}`) });
  process.stdout.write(`${name}: ${chosen.length} of ${all.length} faults\n`);
  return chosen;
};

export interface FaultLine {
  proxies(): Record<FaultedService, FaultProxy>;
  /** Calls of a clean run that starts with fresh instances of the functions. */
  count(work: () => Promise<unknown>): Promise<CallCounts>;
  /** Runs `work` with one fault, on fresh instances; afterwards everything gets through again. */
  run<T>(
    fault: FaultCase,
    work: () => Promise<T>,
  ): Promise<{ met: boolean; outcome: PromiseSettledResult<T> }>;
}

/** What a caller may see of a service that fails: names that say the call can be made again. */
const REPEATABLE = ['SandboxUnavailable', 'StorageUnavailable', 'Throttled'];

/**
 * Does `work` with one fault, and once more without. The first failed by a name that may be seen, or answered what
 * the second answers.
 */
export const failAndRepeat = async <T>(
  line: FaultLine,
  fault: FaultCase,
  work: () => Promise<T>,
  alsoSeen: string[] = [],
): Promise<{ met: boolean; answer: T }> => {
  const name = describeCase(fault);
  const { met, outcome } = await line.run(fault, work);
  if (outcome.status === 'rejected' && fault.kind !== 'killed') {
    expect([...REPEATABLE, ...alsoSeen], name).toContain((outcome.reason as FunctionFailure).errorType);
  }
  const answer = await work();
  // What a function would have answered after its death, nobody heard.
  const isHeard = !met || fault.kind !== 'killed';
  if (outcome.status === 'fulfilled' && isHeard) expect(answer, name).toEqual(outcome.value);
  return { met, answer };
};

export const openFaultLine = async (cloud: TestCloud): Promise<FaultLine> => {
  const interpose = async (): Promise<Record<FaultedService, FaultProxy>> => ({
    s3: await cloud.interpose('s3'),
    dynamodb: await cloud.interpose('dynamodb'),
    e2b: await cloud.interpose('e2b'),
  });
  let proxies = await interpose();
  const all = (): FaultProxy[] => Object.values(proxies);

  const freshInstances = async (): Promise<void> => {
    await cloud.settled();
    cloud.reconfigure({});
  };

  /** What the killed function still tries to say is not heard by anybody. */
  const kill = async (): Promise<void> => {
    for (const proxy of all()) proxy.setPlan([{ action: { kind: 'freeze' } }]);
    for (const proxy of all()) await proxy.close();
  };

  return {
    proxies: () => proxies,
    count: async (work) => {
      await freshInstances();
      const before = SERVICES.map((service) => proxies[service].count());
      await work();
      const [s3 = 0, dynamodb = 0, e2b = 0] = SERVICES.map(
        (service, index) => proxies[service].count() - (before[index] ?? 0),
      );
      return { s3, dynamodb, e2b };
    },
    run: async ({ service, at, kind }, work) => {
      await freshInstances();
      const action = ACTIONS[kind];
      if (action === undefined) throw new Error(`no fault ${kind}`);
      const proxy = proxies[service];
      const start = proxy.count();
      proxy.setPlan([{ at, action }]);
      const settling = Promise.allSettled([work()]);
      if (action.kind === 'freeze') {
        await Promise.race([settling, proxy.reached(start + at)]);
        await kill();
      }
      const [outcome] = await settling;
      const met = proxy.seen.slice(start).some((request) => request.action !== undefined);
      if (action.kind === 'freeze') proxies = await interpose();
      else proxy.setPlan([]);
      return { met, outcome };
    },
  };
};
