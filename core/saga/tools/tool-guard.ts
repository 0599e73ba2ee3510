/**
 * Surrounds every call of a tool, in its own function or on the way to an HTTP endpoint, with deadline and
 * tombstone (S3, S4).
 */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Outcome } from '../decide/saga-events.ts';
import { errorOf } from '../model/text.ts';
import { LATE_COMMIT_MARGIN_MS, STOP_MS } from '../model/timing.ts';
import type { Tombstones } from '../ports.ts';

type OutcomeError = ReturnType<typeof errorOf>;

export interface GuardDependencies {
  tombstones: Tombstones;
  /** Unix milliseconds. */
  now: () => number;
  /**
   * Set when the tool's provider has no keys. Each attempt is then claimed before it acts, so that an attempt
   * that is delivered twice acts once.
   */
  claims?: boolean;
  /**
   * Ends the process of a call that did not stop at its deadline, because nothing else can stop it (S3).
   * May return.
   */
  endInstance: () => void;
  /** How an outcome describes what was thrown. Default: by its name and message. */
  describe?: (thrown: unknown) => OutcomeError;
}

/** How often the clock is read. While a machine sleeps, its timers stand still, but deadlines do not. */
const LOOK_MS = 1000;

/**
 * Milliseconds from now until the call must have stopped by itself. At most 0 when that time has passed.
 */
export const remainingMs = (request: Pick<ToolRequest, 'deadlineMs'>, nowMs: number): number =>
  request.deadlineMs - nowMs - STOP_MS;

const MAX_MESSAGE = 1000;

/** An error as an outcome describes it. */
export const describeError = (code: string, message: string): OutcomeError =>
  errorOf(code, message, MAX_MESSAGE);

/** What was thrown, as an outcome describes it. */
export const describeThrown = (thrown: unknown): OutcomeError => {
  const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown));
  return describeError(name, message);
};

const DEADLINE_PASSED = 'DeadlinePassed';

type Refusal = Extract<Outcome, { outcome: 'rejected' }>;

/** The call came too late to begin, so nothing was tried. */
const tooLate = (message: string): Refusal => ({
  outcome: 'rejected',
  error: { name: DEADLINE_PASSED, message },
  retryable: true,
  reached: false,
});

/**
 * The refusal of a call that came after its deadline. Nobody waits longer than `LATE_COMMIT_MARGIN_MS` after
 * a deadline, so a larger difference means that a clock is ahead.
 */
const cameLate = (lateMs: number): Refusal => {
  const seconds = Math.ceil(lateMs / 1000);
  return tooLate(
    lateMs <= LATE_COMMIT_MARGIN_MS
      ? `The deadline had passed ${seconds} s before the call came. The machine may be busy; else the clock of the tool is ahead.`
      : `By the clock of the tool, the deadline had passed ${seconds} s before the call came.`,
  );
};

const FENCED: Refusal = {
  outcome: 'rejected',
  error: { name: 'Fenced', message: 'This step was compensated already; it may not act any more.' },
  retryable: false,
};

const findLateness = (
  { deadlineMs }: Pick<ToolRequest, 'deadlineMs'>,
  { now }: Pick<GuardDependencies, 'now'>,
): Refusal | undefined =>
  now() < deadlineMs ? undefined : tooLate('The deadline passed before the call could act.');

/**
 * The reason why the call may no longer act, or undefined when it may. Checked right before the side
 * effect.
 */
export const findRefusal = async (
  request: ToolRequest,
  dependencies: Pick<GuardDependencies, 'tombstones' | 'now'>,
): Promise<Refusal | undefined> => {
  const { operation, forwardKey } = request;
  if (operation !== 'compensate' && (await dependencies.tombstones.isBuried(forwardKey))) return FENCED;
  return findLateness(request, dependencies);
};

const EXPIRED: Extract<Outcome, { outcome: 'unknown' }> = {
  outcome: 'unknown',
  error: { name: DEADLINE_PASSED, message: 'The call was under way when its deadline passed.' },
  answered: false,
};

/** An aborted call reports only that it was aborted. This adds the reason. */
const explained = (outcome: Outcome, aborted: boolean): Outcome =>
  aborted && outcome.outcome === 'unknown' && !outcome.answered
    ? { ...outcome, error: EXPIRED.error }
    : outcome;

/** The other delivery may be acting at this moment, so not even "nothing happened" is certain. */
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
  // The tombstone comes first. From here on a late forward call refuses, whatever the compensator finds
  // (S4).
  if (request.operation === 'compensate') await dependencies.tombstones.bury(request.forwardKey);
  return undefined;
};

/**
 * If the tombstone cannot be read or written, the call has not begun, and nothing was tried. The exception
 * is a tool whose provider has no keys: another delivery of the same attempt may act.
 */
const entered = async (
  request: ToolRequest,
  dependencies: GuardDependencies,
): Promise<Outcome | undefined> => {
  try {
    // Claiming and burying take time too. Where no process is ended at the deadline, the call could otherwise
    // begin after it.
    return (await enter(request, dependencies)) ?? findLateness(request, dependencies);
  } catch (error) {
    if (request.operation === 'execute' && dependencies.claims === true) throw error;
    const { describe = describeThrown } = dependencies;
    return { outcome: 'rejected', error: describe(error), retryable: true, reached: false };
  }
};

/**
 * Calls `act` if the call may still act. `signal` aborts shortly before the deadline. A call that is still
 * under way at the deadline is `unknown`, and its process is ended. Otherwise it would be frozen with its
 * function and go on in the next invocation, which may be the one that compensates it. Throws only the
 * errors of `act`.
 */
export const guarded = async (
  request: ToolRequest,
  dependencies: GuardDependencies,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> => {
  const leftMs = remainingMs(request, dependencies.now());
  if (leftMs <= 0) return cameLate(-leftMs);
  const deadline = new AbortController();
  let giveUp: () => void = () => undefined;
  // Not `Promise.withResolvers`: authors of tools may be on Node 20.
  const expired = new Promise<Outcome>((resolve) => {
    giveUp = () => {
      dependencies.endInstance();
      resolve(EXPIRED);
    };
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (forMs: number): void => {
    const waitMs = Math.min(forMs, LOOK_MS);
    timer = setTimeout(() => {
      const restMs = Math.min(forMs - waitMs, remainingMs(request, dependencies.now()));
      if (restMs > 0) return watch(restMs);
      deadline.abort();
      // Set only now, however late it is, so that the call gets its time to stop.
      timer = setTimeout(giveUp, STOP_MS);
    }, waitMs);
  };
  watch(leftMs);
  const run = async () => (await entered(request, dependencies)) ?? act(deadline.signal);
  try {
    return explained(await Promise.race([run(), expired]), deadline.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
};
