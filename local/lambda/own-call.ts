/** One call of a function of the user's, from the request until the answer. */
import type { FunctionPlan } from '../plan.ts';
import { type Claim, createClaim, holderOf, withdrawClaim } from './claim.ts';
import { exitResult, type Fault } from './own-faults.ts';
import type { OwnThread } from './own-thread.ts';
import type { InvocationResult } from './run-handler.ts';

/**
 * A refusal, as Lambda words it, of a call that certainly did not begin: there was no place, or the cloud is
 * ending.
 */
export class NotBegun extends Error {
  /** The second is not tried again at once, so that the machine has time to record it. */
  override readonly name: 'TooManyRequestsException' | 'ResourceNotReadyException';

  constructor(why: 'no place' | 'the end', functionName: string) {
    super(
      why === 'no place'
        ? `Rate Exceeded: there is no thread free for the function ${functionName}`
        : `The function ${functionName} is called while the embedded cloud ends`,
    );
    this.name = why === 'no place' ? 'TooManyRequestsException' : 'ResourceNotReadyException';
  }
}

export interface OwnCall {
  readonly id: number;
  readonly fn: FunctionPlan;
  /**
   * Called when a thread has taken the call, and when it begins, with the time limit that its module
   * declares.
   */
  readonly onTaken: () => void;
  readonly onBegun: (timeoutMs: number) => void;
  readonly answer: Promise<InvocationResult>;
  /** Offers the call to each thread once. */
  offer(to: OwnThread): void;
  /** The number of the thread that took it. */
  holder(): number | undefined;
  settle(result: InvocationResult): void;
  /** Its thread has ended. */
  lose(fault: Fault): void;
  /** False: some thread has the call. */
  refuse(why: 'no place' | 'the end'): boolean;
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
    refuse: (why) => {
      const isFree = withdrawClaim(claim);
      if (isFree) reject(new NotBegun(why, fn.name));
      return isFree;
    },
  };
};
