/** Describes what a moving saga is doing, until when, and who made it turn back. */
import { proofOf } from '../../../contract/identity.ts';
import type { Observation } from '../../../contract/saga-observation.ts';
import { clip } from '../../shared/clip.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Operation, Wait } from '../model/state.ts';
import type { Story } from './stories.ts';

const MAX_REASON = 1000;

const CALLS = { forward: 'calling', probe: 'asking', undo: 'compensating' } as const;

const iso = (ms: number): string => new Date(ms).toISOString();

const operationOf = (operation: Operation, stories: readonly Story[]) => {
  const story = stories[operation.effect];
  const { error } = operation;
  return {
    step: story?.step ?? '?',
    tool: story?.tool ?? '?',
    attempt: operation.attempt,
    ...(story?.idempotencyKey == null ? {} : { idempotencyKey: story.idempotencyKey }),
    ...(error === null ? {} : { error: { name: error.name, message: clip(error.message, MAX_REASON) } }),
  };
};

const pauseReason = (entries: readonly LedgerEntry[]): string => {
  const last = entries.findLast((entry) => entry.direction === 'saga' && entry.status === 'paused');
  return last?.status === 'paused' ? last.reason : '';
};

type Doing = NonNullable<Observation['doing']>;

/** `held`: undefined when nobody holds the lock any more. */
export const lockReason = (held: { sagaId: string; resourceKey: string } | undefined): string =>
  held === undefined
    ? 'for its turn: nobody holds what it waits for'
    : clip(`until saga ${held.sagaId} has ended: it works on ${held.resourceKey}`, MAX_REASON);

const lockDoing = (untilMs: number | null, entries: readonly LedgerEntry[]): Doing => {
  const last = entries.findLast((entry) => entry.direction === 'lock' && entry.status === 'waiting');
  if (last?.direction !== 'lock' || last.status !== 'waiting') return { what: 'waiting' };
  const reason = lockReason({ sagaId: last.behind, resourceKey: last.resourceKey });
  const until = untilMs === null ? {} : { until: iso(untilMs) };
  return { what: 'waiting', reason, step: last.step, tool: last.tool, ...until };
};

/** Undefined when somebody else has to act. */
const waitingFor = (
  wait: Wait,
  entries: readonly LedgerEntry[],
  stories: readonly Story[],
): Doing | undefined => {
  switch (wait.kind) {
    case 'approval':
    case 'next-step':
    case 'parked':
      return undefined;
    case 'slot':
      return { what: 'waiting', reason: 'until its project has room for it' };
    case 'resource':
      return lockDoing(wait.untilMs, entries);
    case 'children': {
      const { step = '?', tool = '?' } = stories[wait.effect] ?? {};
      const { deadlineMs } = wait;
      const reason = 'for its children';
      return {
        what: 'waiting',
        reason,
        step,
        tool,
        ...(deadlineMs === undefined ? {} : { until: iso(deadlineMs) }),
      };
    }
  }
};

/** Undefined when nothing moves by itself: the saga has ended, or waits for a person (`awaiting`). */
export const doingOf = (
  { state }: SagaHead,
  entries: readonly LedgerEntry[],
  stories: readonly Story[],
): Observation['doing'] => {
  if (state.phase === 'done') return undefined;
  if (state.wait !== null) return waitingFor(state.wait, entries, stories);
  const call = state.operation === null ? {} : operationOf(state.operation, stories);
  if (state.pauseUntilMs !== null) {
    return { what: 'pausing', until: iso(state.pauseUntilMs), reason: pauseReason(entries), ...call };
  }
  if (state.operation === null || state.operation.stage !== 'invoking') return { what: 'deciding', ...call };
  return { what: CALLS[state.operation.direction], until: iso(state.operation.deadlineMs), ...call };
};

/** The entry with which a person turns a saga back, by the name of the failure that the saga then has. */
const TURNED_BY: Readonly<Record<string, LedgerEntry['status']>> = {
  Cancelled: 'cancel_requested',
  Undone: 'undo_requested',
  Rewound: 'rewind_requested',
  ApprovalDeclined: 'declined',
};

/** The person who made the saga turn back, and why, if it was a person. */
const personIn = (
  entries: readonly LedgerEntry[],
  name: string,
): Pick<NonNullable<Observation['failed']>, 'by' | 'proof' | 'reason'> => {
  const asked = entries.findLast(({ status }) => status === TURNED_BY[name]);
  if (asked === undefined) return {};
  const reason = 'note' in asked ? asked.note : 'evidence' in asked ? asked.evidence : undefined;
  const { actor: by, person } = asked;
  return {
    by,
    proof: proofOf(by, person),
    ...(reason === undefined ? {} : { reason: clip(reason, MAX_REASON) }),
  };
};

export const failedOf = (head: SagaHead, entries: readonly LedgerEntry[]): Observation['failed'] => {
  const { failure } = head.state;
  if (failure === null) return undefined;
  const byPerson = failure.outcome === 'cancelled' || failure.error.name === 'ApprovalDeclined';
  return { ...failure, ...(byPerson ? personIn(entries, failure.error.name) : {}) };
};
