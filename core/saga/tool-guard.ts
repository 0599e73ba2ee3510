/** What surrounds every call of a tool, in its own function or on the way to an HTTP endpoint: deadline and tombstone (S3, S4). */
import type { Outcome } from './events.ts';
import type { Tombstones } from './ports.ts';
import type { ToolRequest } from './tool-protocol.ts';

export interface GuardDependencies {
  tombstones: Tombstones;
  /** Unix milliseconds. */
  now: () => number;
}

/** Time kept back for the answer to travel before the deadline. */
const ANSWER_MS = 50;

const MAX_MESSAGE = 1000;
const CODE = /^[A-Za-z0-9_.-]{1,100}$/;

/** An error as an outcome names it. */
export const describeError = (code: string, message: string) => ({
  name: CODE.test(code) ? code : 'ToolError',
  message: message.slice(0, MAX_MESSAGE),
});

const DEADLINE_PASSED = 'DeadlinePassed';

type Refusal = Extract<Outcome, { outcome: 'rejected' }>;

const refuse = (name: string, message: string, retryable: boolean): Refusal => ({
  outcome: 'rejected',
  error: { name, message },
  retryable,
});

/** Why the call may not act any more; undefined when it may. Asked right before the side effect. */
export const findRefusal = async (
  request: ToolRequest,
  { tombstones, now }: GuardDependencies,
): Promise<Refusal | undefined> => {
  if (request.operation !== 'compensate' && (await tombstones.isBuried(request.forwardKey))) {
    return refuse('Fenced', 'This step was compensated already; it may not act any more.', false);
  }
  if (now() < request.deadlineMs) return undefined;
  return refuse(DEADLINE_PASSED, 'The deadline passed before the call could act.', true);
};

const whenAborted = (signal: AbortSignal): Promise<Outcome> =>
  new Promise((resolve) => {
    const message = 'The call was under way when its deadline passed.';
    const expired: Outcome = {
      outcome: 'unknown',
      error: { name: DEADLINE_PASSED, message },
      answered: false,
    };
    signal.addEventListener('abort', () => resolve(expired));
  });

const enter = async (request: ToolRequest, dependencies: GuardDependencies): Promise<Refusal | undefined> => {
  if (request.operation === 'execute') return findRefusal(request, dependencies);
  // The tombstone first: from here on a late forward call refuses, whatever the compensator finds (S4).
  if (request.operation === 'compensate') await dependencies.tombstones.bury(request.forwardKey);
  return undefined;
};

/**
 * Calls `act` when the call may still act, and answers `unknown` when the deadline passes meanwhile; `signal` aborts then.
 * What it can not know it calls unknown; it throws only what `act` throws.
 */
export const guarded = async (
  request: ToolRequest,
  dependencies: GuardDependencies,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> => {
  const leftMs = request.deadlineMs - dependencies.now() - ANSWER_MS;
  if (leftMs <= 0) return refuse(DEADLINE_PASSED, 'The deadline had passed when the call came.', true);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), leftMs);
  const run = async () => (await enter(request, dependencies)) ?? act(deadline.signal);
  try {
    return await Promise.race([run(), whenAborted(deadline.signal)]);
  } finally {
    clearTimeout(timer);
  }
};
