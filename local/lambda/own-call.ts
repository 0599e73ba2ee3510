/** One call of a function of one's own, from when it is asked for until it is answered. */
import type { FunctionPlan } from '../plan.ts';
import { type Claim, createClaim, holderOf, withdrawClaim } from './claim.ts';
import { exitResult, type Fault } from './own-faults.ts';
import type { OwnThread } from './own-thread.ts';
import type { InvocationResult } from './run-handler.ts';

/** As Lambda refuses a call that it has no place for: it did not begin. */
export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequestsException';
  /** The cloud ends: there will be no place. */
  readonly isForGood: boolean;

  constructor(message: string, isForGood: boolean) {
    super(message);
    this.isForGood = isForGood;
  }
}

export interface OwnCall {
  readonly id: number;
  readonly fn: FunctionPlan;
  /** Told when a thread has taken it, and when it begins, with the time limit that its module says. */
  readonly onTaken: () => void;
  readonly onBegun: (timeoutMs: number) => void;
  readonly answer: Promise<InvocationResult>;
  /** Once to each thread. */
  offer(to: OwnThread): void;
  /** The number of the thread that took it. */
  holder(): number | undefined;
  settle(result: InvocationResult): void;
  /** Its thread has ended. */
  lose(fault: Fault): void;
  /** False: somebody has it. */
  refuse(isForGood: boolean): boolean;
}

export type CallFacts = Pick<OwnCall, 'fn' | 'onTaken' | 'onBegun'> & { event: unknown; requestId: string };

let lastId = 0;

export const createOwnCall = ({ event, requestId, ...facts }: CallFacts): OwnCall => {
  const { fn } = facts;
  const id = (lastId += 1);
  const claim: Claim = createClaim();
  const asked = { ask: 'invoke' as const, id, claim, fn, event: JSON.stringify(event ?? null), requestId };
  const offered = new Set<OwnThread>();
  const { promise, resolve, reject } = Promise.withResolvers<InvocationResult>();
  return {
    ...facts,
    id,
    answer: promise,
    offer: (to) => {
      if (offered.has(to)) return;
      offered.add(to);
      to.ask(asked);
    },
    holder: () => holderOf(claim),
    settle: resolve,
    lose: (fault) => resolve(exitResult(requestId, fn, fault)),
    refuse: (isForGood) => {
      const isFree = withdrawClaim(claim);
      const message = `Rate Exceeded: there is no thread free for the function ${fn.name}`;
      if (isFree) reject(new TooManyRequests(message, isForGood));
      return isFree;
    },
  };
};
