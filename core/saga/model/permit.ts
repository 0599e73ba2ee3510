/**
 * Permits: exclusive locks on resource keys, and the slots of a project. Both are semaphores. A lock has one
 * permit, a project as many as it may run root sagas at once (docs/sagas.md, Locks and limits).
 */
import { sha256Hex } from '../../shared/ids.ts';
import type { SagaHead } from './head.ts';

/** The saga that holds permits: a saga without a parent. Its descendants take locks in its name. */
export interface Root {
  sagaId: string;
  /** ISO 8601, UTC. Those who started first come first; equal times are ordered by id. */
  startedAt: string;
}

/** One permit as it is stored. It is kept after its release, so that its token never goes back. */
export interface Permit {
  semaphore: string;
  /** 0 for a lock. */
  number: number;
  /**
   * Id of the root that it was last granted to. That root no longer holds it once it has ended or gave it
   * back.
   */
  holder: string;
  /** Counts grants, from 1. A tool's provider may refuse a call with a lower token than it has seen. */
  fencingToken: number;
  /** ISO 8601, UTC. */
  since: string;
  /** For people: the resource key, or the project. */
  label: string;
}

/** A place in the line of a semaphore. It counts only while the saga waits there. */
export interface Ticket {
  semaphore: string;
  root: Root;
  sagaId: string;
  /** Number of the entry that says the saga waits. When it stands in line again, another entry says so. */
  seq: number;
}

/** Written in the same transaction as the entries that record it (S9). */
export type Claim = { claim: 'permit'; permit: Permit } | { claim: 'ticket'; ticket: Ticket };

/**
 * How a semaphore stands for one root. `fencingToken`: that of the last grant of this permit, 0 before the
 * first.
 */
export type Look =
  | { state: 'mine' | 'free'; number: number; fencingToken: number }
  | {
      state: 'busy';
      /** The root in the way: the holder of a lock, or an earlier root in the line. */
      behind: Root;
    };

export const rootOf = ({ sagaId, createdAt }: Pick<SagaHead, 'sagaId' | 'createdAt'>): Root => ({
  sagaId,
  startedAt: createdAt,
});

export const isOlder = (one: Root, other: Root): boolean =>
  one.startedAt === other.startedAt ? one.sagaId < other.sagaId : one.startedAt < other.startedAt;

/** The namespace of locks of sagas without a project. */
const NO_PROJECT = '-';

export const lockOf = (project: string | undefined, resourceKey: string): string =>
  `lock:${project ?? NO_PROJECT}:${sha256Hex(resourceKey).slice(0, 32)}`;

export const slotsOf = (project: string): string => `project:${project}`;
