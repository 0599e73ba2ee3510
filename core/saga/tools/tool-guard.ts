/** What surrounds every call of a tool, in its own function or on the way to an HTTP endpoint: deadline and tombstone (S3, S4). */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Outcome } from '../decide/saga-events.ts';
import { errorOf } from '../ledger/text.ts';
import type { Tombstones } from '../ports.ts';

export interface GuardDependencies {
  tombstones: Tombstones;
  /** Unix milliseconds. */
  now: () => number;
  /** The provider of the tool knows no keys: each attempt is claimed before it acts, so that one that is delivered twice acts once. */
  claims?: boolean;
  /** Ends what the call runs in: it did not stop at its deadline, and nothing else can stop it (S3). May return. */
  endInstance: () => void;
}

/** Time a call has between the abort of its signal and its deadline, to stop and to say how it ended. */
export const STOP_MS = 50;

/** When the call must have stopped by itself, in milliseconds from now; at most 0 when that passed. */
export const remainingMs = (request: Pick<ToolRequest, 'deadlineMs'>, nowMs: number): number =>
  request.deadlineMs - nowMs - STOP_MS;

const MAX_MESSAGE = 1000;

/** An error as an outcome names it. */
export const describeError = (code: string, message: string) => errorOf(code, message, MAX_MESSAGE);

const DEADLINE_PASSED = 'DeadlinePassed';

type Refusal = Extract<Outcome, { outcome: 'rejected' }>;

/** The call came too late to begin: nothing of it was tried. */
const tooLate = (message: string): Refusal => ({
  outcome: 'rejected',
  error: { name: DEADLINE_PASSED, message },
  retryable: true,
  reached: false,
});

const FENCED: Refusal = {
  outcome: 'rejected',
  error: { name: 'Fenced', message: 'This step was compensated already; it may not act any more.' },
  retryable: false,
};

/** Why the call may not act any more; undefined when it may. Asked right before the side effect. */
export const findRefusal = async (
  request: ToolRequest,
  { tombstones, now }: GuardDependencies,
): Promise<Refusal | undefined> => {
  if (request.operation !== 'compensate' && (await tombstones.isBuried(request.forwardKey))) {
    return FENCED;
  }
  if (now() < request.deadlineMs) return undefined;
  return tooLate('The deadline passed before the call could act.');
};

const EXPIRED: Extract<Outcome, { outcome: 'unknown' }> = {
  outcome: 'unknown',
  error: { name: DEADLINE_PASSED, message: 'The call was under way when its deadline passed.' },
  answered: false,
};

/** What an aborted call says of itself is that it was aborted: say why. */
const explained = (outcome: Outcome, aborted: boolean): Outcome =>
  aborted && outcome.outcome === 'unknown' && !outcome.answered
    ? { ...outcome, error: EXPIRED.error }
    : outcome;

/** The other one may be acting at this moment: not even that nothing happened is known here. */
const DELIVERED_TWICE: Outcome = {
  outcome: 'unknown',
  error: {
    name: 'DeliveredTwice',
    message: 'This attempt was delivered before, and acts there if anywhere.',
  },
  answered: false,
};

const enter = async (request: ToolRequest, dependencies: GuardDependencies): Promise<Outcome | undefined> => {
  if (request.operation === 'execute') {
    const refusal = await findRefusal(request, dependencies);
    if (refusal !== undefined || dependencies.claims !== true) return refusal;
    const { tombstones } = dependencies;
    const isMine = (await tombstones.claim?.(request.forwardKey, request.attempt)) ?? true;
    return isMine ? undefined : DELIVERED_TWICE;
  }
  // The tombstone first: from here on a late forward call refuses, whatever the compensator finds (S4).
  if (request.operation === 'compensate') await dependencies.tombstones.bury(request.forwardKey);
  return undefined;
};

/**
 * Who cannot look at the tombstones, or write one, has not begun: nothing was tried. Only of a tool whose provider knows no keys that is not
 * said: another delivery of the same attempt may act.
 */
const entered = async (
  request: ToolRequest,
  dependencies: GuardDependencies,
): Promise<Outcome | undefined> => {
  try {
    return await enter(request, dependencies);
  } catch (error) {
    if (request.operation === 'execute' && dependencies.claims === true) throw error;
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const described = describeError(name, message);
    return { outcome: 'rejected', error: described, retryable: true, reached: false };
  }
};

/**
 * Calls `act` when the call may still act. `signal` aborts shortly before the deadline; a call that is still under way at
 * the deadline is `unknown`, and what it runs in is ended: frozen with its function it would go on in the next
 * invocation, which may be the one that compensates it. Throws only what `act` throws.
 */
export const guarded = async (
  request: ToolRequest,
  dependencies: GuardDependencies,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> => {
  const leftMs = remainingMs(request, dependencies.now());
  if (leftMs <= 0) return tooLate('The deadline had passed when the call came.');
  const deadline = new AbortController();
  const expired = Promise.withResolvers<Outcome>();
  const giveUp = () => {
    dependencies.endInstance();
    expired.resolve(EXPIRED);
  };
  // The second only when the first has fired, however late: the call gets its time to stop.
  let timer = setTimeout(() => {
    deadline.abort();
    timer = setTimeout(giveUp, STOP_MS);
  }, leftMs);
  const run = async () => (await entered(request, dependencies)) ?? act(deadline.signal);
  try {
    return explained(await Promise.race([run(), expired.promise]), deadline.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
};
