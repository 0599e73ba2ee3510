/**
 * The head of a saga: one item with its state and the tip of its chain. Also says which statuses move by
 * themselves, and which are final.
 */
import { SAGA_STATUSES, type SagaStatus } from '../../../contract/saga-observation.ts';
import type { EntryLink } from './children.ts';
import type { SagaState } from './state.ts';

export const TERMINAL_STATUSES = ['COMPLETED', 'COMPENSATED', 'COMPENSATION_FAILED'] as const;

/** Statuses in which an execution drives the saga. Such a saga moves by itself, or something is wrong. */
export const MOVING_STATUSES: readonly SagaStatus[] = ['RUNNING', 'COMPENSATING', 'PAUSED'];

/** In the order in which they are listed. */
export const STATUSES_FOR_PEOPLE: readonly SagaStatus[] = ['COMPENSATION_FAILED', 'AWAITING', 'PARKED'];
export const SETTLED_STATUSES: readonly SagaStatus[] = ['COMPENSATED', 'COMPLETED'];
/** All other statuses, so that a new status is one of them. */
export const STATUSES_AT_WORK: readonly SagaStatus[] = SAGA_STATUSES.filter(
  (status) => !STATUSES_FOR_PEOPLE.includes(status) && !SETTLED_STATUSES.includes(status),
);
/** Statuses of sagas that can hold locks and may still change something. Those that need a person come first. */
export const OPEN_STATUSES: readonly SagaStatus[] = [...STATUSES_FOR_PEOPLE, ...STATUSES_AT_WORK];

type Turn = Pick<SagaState, 'status' | 'wait'>;

/** While an interactive saga waits for its next step, its turn is the wait. */
const isIdle = ({ wait }: Turn): boolean => wait?.kind === 'next-step';

const isMoving = (state: Turn): boolean => MOVING_STATUSES.includes(state.status) && !isIdle(state);

/** Whether both move, or both have the same status; then `statusSince` stays. */
export const isSameTurn = (before: Turn, after: Turn): boolean =>
  (before.status === after.status && isIdle(before) === isIdle(after)) ||
  (isMoving(before) && isMoving(after));

/** One item per saga: the folded state, and the tip of the chain. */
export interface SagaHead {
  sagaId: string;
  /** Optimistic lock (S9). */
  version: number;
  /** Sequence number of the next entry. */
  seq: number;
  /** Hash of the last entry. */
  tip: string;
  state: SagaState;
  /** Hash of the start request: the same id with another request is refused. */
  requestHash: string;
  planHash: string;
  inputHash: string;
  definition?: string;
  sessionId?: string;
  /** The message of the session that the saga's work belongs to. */
  messageId?: string;
  /** Of a child: the entry that named it. */
  parent?: EntryLink;
  /** For a child: the root, with which its steps are stored. */
  root?: string;
  /** Namespace of its locks, and of its slot. */
  project?: string;
  /** Root sagas of the project that may run at once, as this one asked. */
  maxConcurrent?: number;
  requestedBy: string;
  /** Events in the history of the current execution, estimated. */
  historyEvents: number;
  createdAt: string;
  updatedAt: string;
  /**
   * When the status last changed. It stays when one moving status follows another; otherwise a saga that
   * pauses would never seem old.
   */
  statusSince: string;
}

/** Whether this is the child that the parent named, and not another saga with its id. */
export const isChildOf = (child: SagaHead, parent: string, startSeq: number): boolean =>
  child.parent?.sagaId === parent && child.parent.seq === startSeq;
