/**
 * Decides who runs a call that is offered to several threads: the thread that takes it first, or none when it
 * was withdrawn. The claim lies in memory that threads share, so that a call can be taken away from a thread
 * that is blocked and receives no messages.
 */

/** Shared by all threads. */
export type Claim = Int32Array<SharedArrayBuffer>;

const OPEN = 0;
const WITHDRAWN = -1;

export const createClaim = (): Claim => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Whether this thread has the call from now on. Thread numbers begin with 1. */
export const takeClaim = (claim: Claim, thread: number): boolean =>
  Atomics.compareExchange(claim, 0, OPEN, thread) === OPEN;

/** Whether no thread had the call, so that none gets it any more. */
export const withdrawClaim = (claim: Claim): boolean => takeClaim(claim, WITHDRAWN);

/** The number of the thread that took it. */
export const holderOf = (claim: Claim): number | undefined => {
  const holder = Atomics.load(claim, 0);
  return holder === OPEN || holder === WITHDRAWN ? undefined : holder;
};
