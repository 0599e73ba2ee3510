/**
 * The services that sagas need from outside. Implemented in `adapters/aws`; `Evaluate` in `adapters/jsonata`.
 * Methods throw only `WalkbackError`.
 */
import type { Json } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-observation.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { WriteOutcome } from '../checkpoint/ports/stores.ts';
import type { Clock, Log } from '../shared/surroundings.ts';
import type { SagaHead } from './model/head.ts';
import type { LedgerEntry } from './model/ledger-entry.ts';
import type { Claim, Permit, Ticket } from './model/permit.ts';
import type { PinnedSaga, PinnedStep, SagaDefinition } from './model/plan.ts';
import type { ParkRecord } from './model/session-park.ts';
import type { RewindRecord } from './model/session-rewind.ts';
import type { SubmittedStep } from './model/submitted-step.ts';
import type { ToolManifest } from './model/tool.ts';

/** The execution to wake when an awaited answer comes. */
export interface WakeToken {
  sagaId: string;
  generation: number;
  step: number;
  /** When the wait began, and which attempt to announce it this is. */
  enteredMs: number;
  retry: number;
  token: string;
}

export interface Page<Item> {
  items: Item[];
  cursor?: string;
}

/** What the index by status shows of a saga. */
export interface SagaOutline {
  sagaId: string;
  statusSince: string;
  /** When its wait for a person or its pause ends. Null when it has neither. */
  waitUntilMs: number | null;
}

/** A saga in the list of its session. */
export interface SessionSaga {
  sagaId: string;
  createdAt: string;
}

/** The epoch of a session that work belongs to. The work is written only while the session is in that epoch. */
export interface SessionFence {
  sessionId: string;
  epoch: number;
}

/** Throws `StaleEpoch`, `SessionNotFound` and `SessionEnded`. */
export type CheckEpoch = (fence: SessionFence) => Promise<void>;

/** The project of a session. Undefined: it has none, or there is no such session. */
export type ProjectOf = (sessionId: string) => Promise<string | undefined>;

/** What is written or checked in the same transaction as a move. */
export interface Beside {
  submitted?: SubmittedStep;
  /** Also lists the saga in this session, because it took a step of it. */
  session?: { sessionId: string; createdAt: string };
  fence?: SessionFence;
  /** Each token of a permit is granted only once. */
  claims?: readonly Claim[];
}

/** `unstorable`: why the store would never take this write, whoever makes it. Nothing was written. */
type Appended = WriteOutcome<SagaHead> | { written: false; unstorable: string };

/** Sagas and Ledger tables. Reads are strongly consistent, except the three `list...By...` (indexes). */
export interface SagaStore {
  getHead(sagaId: string): Promise<SagaHead | undefined>;
  /** For showing, so it includes heads that a newer release wrote. Heads that do not exist are left out. */
  getHeads(sagaIds: readonly string[]): Promise<SagaHead[]>;
  /**
   * Each part is found by its own hash and checked against it, so two starts of one id cannot mix. Written
   * before the head.
   */
  putPinned(pinned: PinnedSaga): Promise<void>;
  /** The input of a child, whose steps are stored with the root. */
  putInput(sagaId: string, inputHash: string, input: Json): Promise<void>;
  getPinnedInput(sagaId: string, inputHash: string): Promise<Json>;
  getPinnedStep(sagaId: string, planHash: string, index: number): Promise<PinnedStep>;
  /** The step that was submitted under this id, checked against the hash under which it was pinned. */
  getSubmittedStep(sagaId: string, stepId: string): Promise<SubmittedStep | undefined>;
  /**
   * One transaction: head and first entries, both create-only, and what they claim. When only a claim or the
   * fence was refused, there is no `existing`.
   */
  createSaga(
    head: SagaHead,
    entries: readonly LedgerEntry[],
    claims?: readonly Claim[],
    fence?: SessionFence,
  ): Promise<WriteOutcome<SagaHead>>;
  /**
   * One transaction (S9): the head moves from `expectedVersion`, every entry is create-only, and every
   * permit is granted for the first time with its token.
   */
  append(
    head: SagaHead,
    expectedVersion: number,
    entries: readonly LedgerEntry[],
    beside?: Beside,
  ): Promise<Appended>;
  /** The sagas that were started for a session, oldest first. */
  listBySession(sessionId: string): Promise<SessionSaga[]>;
  readonly permits: PermitStore;
  /** Create-only: which sagas a request to put a session aside means. */
  createPark(record: ParkRecord): Promise<WriteOutcome<ParkRecord>>;
  /** Create-only: the record of a session's rewind. */
  createRewind(record: RewindRecord): Promise<WriteOutcome<RewindRecord>>;
  getRewind(sessionId: string, requestId: string): Promise<RewindRecord | undefined>;
  /** Replaces the record by one that says when it was through. */
  finishRewind(record: RewindRecord): Promise<void>;
  getEntry(sagaId: string, seq: number): Promise<LedgerEntry | undefined>;
  /** Oldest first, the whole ledger of one saga. */
  listEntries(sagaId: string): Promise<LedgerEntry[]>;
  /** The same from `from` on, at most `limit` and about 1 MB; `next` is where the rest begins. */
  pageEntries(sagaId: string, from: number, limit: number): Promise<{ items: LedgerEntry[]; next?: number }>;

  /**
   * From the index: the sagas of this status that have had it since `since` or later, the longest first. The
   * index may lag a moment behind, and no head is read.
   */
  listByStatus(
    status: SagaStatus,
    limit: number,
    cursor?: string,
    since?: string,
  ): Promise<Page<SagaOutline>>;
  /** The same with their heads, without sagas that have changed their status since. */
  listHeadsByStatus(status: SagaStatus, limit: number, cursor?: string): Promise<Page<SagaHead>>;
  /** Outcomes of one day (`YYYY-MM-DD`, UTC), oldest first; starts of calls are not indexed. */
  listEntriesByDay(day: string, limit: number, cursor?: string): Promise<Page<LedgerEntry>>;
  listEntriesByExternalRef(externalRef: string, limit: number, cursor?: string): Promise<Page<LedgerEntry>>;

  /** False: the token of a later wait or attempt of the saga is there, and stays. */
  putToken(token: WakeToken): Promise<boolean>;
  getToken(sagaId: string): Promise<WakeToken | undefined>;

  /**
   * Create-only per version. `existing` when the version is stored already. The last one stored is the
   * newest.
   */
  putTool(tool: ToolManifest): Promise<WriteOutcome<ToolManifest>>;
  getTool(name: string, version?: string): Promise<ToolManifest | undefined>;
  putDefinition(definition: SagaDefinition): Promise<WriteOutcome<SagaDefinition>>;
  getDefinition(name: string, version?: string): Promise<SagaDefinition | undefined>;
  /** The newest version of each tool. */
  listTools(): Promise<ToolManifest[]>;
  listDefinitions(): Promise<SagaDefinition[]>;
}

/**
 * Permits of semaphores, and the lines before them. They are granted by `SagaStore.append`, with the entry
 * that says so. Reads are strongly consistent.
 */
export interface PermitStore {
  /** Every permit of a semaphore that was ever granted, by number. */
  granted(semaphore: string): Promise<Permit[]>;
  /** The roots in line, the one that started first comes first. */
  line(semaphore: string): AsyncIterable<Ticket>;
  /** Removes a ticket. Does nothing when the saga stands in the line again meanwhile. */
  leave(ticket: Ticket): Promise<void>;
  /** Locks of this root that were not released. */
  heldBy(rootId: string): Promise<Permit[]>;
  /** Removes the holder's name, unless the permit was granted again meanwhile. */
  release(permit: Pick<Permit, 'semaphore' | 'number' | 'holder' | 'fencingToken'>): Promise<void>;
}

/** The machine that drives executions. */
export interface SagaEngine {
  /** Idempotent by name: `exists` when this generation was started before. */
  start(sagaId: string, generation: number): Promise<'started' | 'exists'>;
  /** `missing` when this generation never started; `ended` however it ended. */
  look(sagaId: string, generation: number): Promise<'running' | 'ended' | 'missing'>;
  /** False when no execution waits on this token any more. */
  wake(token: string): Promise<boolean>;
}

/** What Step Functions gives to the next state: the answer of the function, or the error of the call. */
export type Invoked = { Payload: unknown } | { Error: string; Cause: string };

/** The machine's input to the function. `endpoint` is for the built-in function, and is not passed on. */
export type InvokePayload = ToolRequest & { endpoint?: string };

/**
 * Calls the function of a tool without the machine. Never throws: a lost answer is an error in the result
 * too.
 */
export interface ToolInvoker {
  invoke(functionName: string, payload: InvokePayload, timeoutMs: number): Promise<Invoked>;
}

/**
 * The known facts of a tool's function. `hidden`: we may not look at it, and then sagas may not call it
 * either.
 */
export type ServingFunction = { state: 'there'; timeoutSeconds: number } | { state: 'missing' | 'hidden' };

/** Where tools are served. */
export interface ToolFunctions {
  /** By name, ARN, or either with a qualifier. */
  look(functionName: string): Promise<ServingFunction>;
}

export interface Tombstones {
  /** Marks a forward key as compensated: a late forward call refuses (S4). */
  bury(forwardKey: string): Promise<void>;
  isBuried(forwardKey: string): Promise<boolean>;
  /**
   * Create-only: false when this attempt of this key was claimed before. Used for providers without keys. An
   * implementation that cannot claim leaves it out; a call that is delivered twice then acts twice.
   */
  claim?(forwardKey: string, attempt: number): Promise<boolean>;
}

/** One expression, and the steps that it names. */
export interface Expression {
  source: string;
  /** Only these of `steps` are visible. Absent: the scope has no steps, and all of it is visible. */
  steps?: readonly string[];
}

/**
 * Values of JSONata expressions, in order. All together are limited to one second and 64 MB. Throws
 * `ArgumentsUnresolved` when one fails, has no value or is too costly.
 */
export type Evaluate = (expressions: readonly Expression[], scope: Json) => Promise<Json[]>;

export interface AdvanceDependencies {
  store: SagaStore;
  evaluate: Evaluate;
  engine: SagaEngine;
  clock: Clock;
  log?: Log;
  /**
   * Name of the built-in function for HTTP tools in this deployment. Manifests always call it
   * `walkback-http-tool`.
   */
  httpToolFunction?: string;
  /** Link to an execution in the console of AWS, for the alert. */
  executionLink: (executionArn: string) => string;
  /** Address of our own console, for the alert; absent when it is not known. */
  consoleUrl?: string | undefined;
  /** Where a saga continues in a new execution; the default leaves 5,000 of the 25,000 events. */
  maxHistoryEvents?: number;
}
