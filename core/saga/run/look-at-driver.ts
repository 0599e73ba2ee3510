/**
 * Finds what drives a saga now: an execution, or a function that noted a time until which it may still be at
 * work.
 */
import type { Clock } from '../../shared/surroundings.ts';
import type { SagaHead } from '../model/head.ts';
import { LATE_COMMIT_MARGIN_MS } from '../model/timing.ts';
import type { SagaEngine } from '../ports.ts';

/** A function takes at most this long from one write to the next when it calls no tool. */
const BETWEEN_WRITES_MS = 60_000;

/** A saga that waits for its next step needs no driver until this time. */
const idleUntilMs = ({ state: { phase, wait } }: SagaHead): number => {
  if (phase !== 'forward') return 0;
  if (wait?.kind === 'parked') return Number.POSITIVE_INFINITY;
  return wait?.kind === 'next-step' ? wait.untilMs : 0;
};

const inlineUntilMs = ({ state: { operation }, updatedAt }: SagaHead): number =>
  operation?.stage === 'invoking'
    ? operation.deadlineMs + LATE_COMMIT_MARGIN_MS
    : Date.parse(updatedAt) + BETWEEN_WRITES_MS;

/**
 * `running` also means that nothing has to drive the saga now. A function that is overdue counts as an
 * execution that has ended. So the next driver is another generation, and a call in flight is in doubt (S2).
 */
export const lookAtDriver = async (
  { engine, clock }: { engine: SagaEngine; clock: Pick<Clock, 'now'> },
  head: SagaHead,
): Promise<'running' | 'ended' | 'missing'> => {
  const nowMs = clock.now().getTime();
  if (nowMs < idleUntilMs(head)) return 'running';
  const { inline, generation } = head.state;
  if (inline === undefined) return engine.look(head.sagaId, generation);
  return nowMs < inlineUntilMs(head) ? 'running' : 'ended';
};
