/**
 * Who runs a call that is offered to several threads: the one that takes it first, or nobody when it was withdrawn. It lies in memory
 * that threads share, so that a call can be taken away from a thread that is blocked and hears nothing.
 */

/** Shared by all threads. */
export type Claim = Int32Array<SharedArrayBuffer>;

const OPEN = 0;
const WITHDRAWN = -1;

export const createClaim = (): Claim => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Whether it is this thread's from now on. The numbers of threads begin with 1. */
export const takeClaim = (claim: Claim, thread: number): boolean =>
  Atomics.compareExchange(claim, 0, OPEN, thread) === OPEN;

/** Whether nobody had it, and nobody gets it any more. */
export const withdrawClaim = (claim: Claim): boolean => takeClaim(claim, WITHDRAWN);

/** The thread that took it. */
export const holderOf = (claim: Claim): number | undefined => {
  const holder = Atomics.load(claim, 0);
  return holder === OPEN || holder === WITHDRAWN ? undefined : holder;
};
