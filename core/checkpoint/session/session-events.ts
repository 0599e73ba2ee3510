/** Derives events from changes of the table alone: no event without its row, no row without its event. */
import type { EventName } from '../../../contract/events.ts';
import type { WalkbackEvent } from '../../shared/events.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { LinkBundle, StoredBundle, StoredUpload } from '../bundles.ts';
import type { RehydrateJournal, RollbackJournal } from '../journals.ts';
import type { Checkpoint, Session } from '../model.ts';

/** One item of the Sessions table, told apart by its key. */
export type StoredItem =
  | { kind: 'session'; item: Session }
  | { kind: 'checkpoint'; item: Checkpoint }
  | { kind: 'rollback'; item: RollbackJournal }
  | { kind: 'rehydrate'; item: RehydrateJournal }
  | { kind: 'link'; sessionId: string; chainId: string; bundle: LinkBundle }
  | { kind: 'base'; name: string; owner: string; bundle: StoredBundle }
  | { kind: 'upload'; upload: StoredUpload }
  | { kind: 'other' };

/** One change, as a stream reports it. `before` and `after` are of the same kind when both are present. */
export interface ItemChange {
  id: string;
  before?: StoredItem;
  after?: StoredItem;
}

/**
 * Limit for the paths and ids that an event lists. An event may have 256 KB, and the row it reports has the
 * full lists.
 */
const MAX_LISTED_BYTES = 128 * 1024;

/** As many texts as fit, in order. */
const listSome = (texts: readonly string[]): string[] => {
  let roomBytes = MAX_LISTED_BYTES;
  const over = texts.findIndex((text) => {
    roomBytes -= jsonBytes(text) + 1;
    return roomBytes < 0;
  });
  return over === -1 ? [...texts] : texts.slice(0, over);
};

const sessionEvents = (
  before: Session | undefined,
  after: Session,
): [EventName, Record<string, unknown>][] => {
  const { sessionId, epoch, sandboxId } = after;
  const events: [EventName, Record<string, unknown>][] = [];
  if (before === undefined) {
    events.push(['session.started', { sessionId, epoch, sandboxId, projectsRoot: after.projectsRoot }]);
    return events;
  }
  if (after.epoch > before.epoch) {
    // Callers that still work in an older epoch should stop, because their next write would be refused. A
    // rollback takes its hold of the session with this write, and a resume lets go with it. A rewind does not
    // change the hold, so the event then has no `requestId`.
    const isHolders = before.busy?.requestId !== after.busy?.requestId;
    const requestId = isHolders ? (after.busy ?? before.busy)?.requestId : undefined;
    events.push([
      'session.aborted',
      { sessionId, epoch, previousEpoch: before.epoch, sandboxId: before.sandboxId, requestId },
    ]);
  }
  if (after.status === 'ended' && before.status !== 'ended') {
    events.push(['session.ended', { sessionId, epoch, expiresAt: after.expiresAt }]);
  }
  return events;
};

const checkpointCreated = (item: Checkpoint): [EventName, Record<string, unknown>] => [
  'checkpoint.created',
  {
    sessionId: item.sessionId,
    checkpointId: item.checkpointId,
    seq: item.seq,
    epoch: item.epoch,
    messageId: item.messageId,
    toolExecutionId: item.toolExecutionId,
    reason: item.reason,
    complete: item.complete,
    detached: item.detached,
    changedRepositories: listSome(item.repositories.filter(({ changed }) => changed).map(({ path }) => path)),
  },
];

const rollbackEnded = (item: RollbackJournal): [EventName, Record<string, unknown>] | undefined => {
  const about = {
    sessionId: item.sessionId,
    requestId: item.requestId,
    epoch: item.epoch,
    sandboxId: item.sandboxId,
    detached: item.detached,
    ...(item.settled && { settled: item.settled }),
    ...(item.by && { by: item.by.name, ...(item.by.person && { byVerified: true }) }),
  };
  if (item.phase === 'failed') return ['rollback.failed', { ...about, error: item.error }];
  if (item.phase !== 'done') return undefined;
  const { checkpointId, undoCheckpointId, discardedMessageIds, trimAfterMessageId } = item.result ?? {};
  return [
    'rollback.completed',
    {
      ...about,
      checkpointId,
      undoCheckpointId,
      discardedMessageIds: discardedMessageIds && listSome(discardedMessageIds),
      trimAfterMessageId,
    },
  ];
};

const rehydrated = (item: RehydrateJournal): [EventName, Record<string, unknown>] => [
  'session.rehydrated',
  {
    sessionId: item.sessionId,
    requestId: item.requestId,
    mode: item.mode,
    sandboxId: item.result?.sandboxId,
    checkpointId: item.result?.checkpointId,
    epoch: item.result?.epoch,
  },
];

const namedEvents = ({ before, after }: ItemChange): [EventName, Record<string, unknown>][] => {
  switch (after?.kind) {
    case 'session':
      return sessionEvents(before?.kind === 'session' ? before.item : undefined, after.item);
    case 'checkpoint':
      // A later change of the item only prolongs its life.
      return before === undefined ? [checkpointCreated(after.item)] : [];
    case 'rollback': {
      const phaseBefore = before?.kind === 'rollback' ? before.item.phase : undefined;
      const event = phaseBefore === after.item.phase ? undefined : rollbackEnded(after.item);
      return event === undefined ? [] : [event];
    }
    case 'rehydrate': {
      const phaseBefore = before?.kind === 'rehydrate' ? before.item.phase : undefined;
      return after.item.phase === 'done' && phaseBefore !== 'done' ? [rehydrated(after.item)] : [];
    }
    case 'link':
    case 'base':
    case 'upload':
    case 'other':
    case undefined:
      return [];
  }
};

const timeOf = (after: StoredItem | undefined): string => {
  switch (after?.kind) {
    case 'checkpoint':
      return after.item.createdAt;
    case 'session':
    case 'rollback':
    case 'rehydrate':
      return after.item.updatedAt;
    case 'link':
    case 'base':
    case 'upload':
    case 'other':
    case undefined:
      return new Date(0).toISOString();
  }
};

export const eventsOf = (change: ItemChange): WalkbackEvent[] =>
  namedEvents(change).map(([name, detail]) => ({
    id: `${change.id}:${name}`,
    name,
    at: timeOf(change.after),
    detail,
  }));

/** An object in the bucket, and the items that could still name it. */
export interface RemovedObject {
  key: string;
  place: StoredUpload['place'];
}

/** The object that may no longer be named by any item, when a change removed one. */
export const removedObject = ({ before, after }: ItemChange): RemovedObject | undefined => {
  if (after !== undefined) return undefined;
  switch (before?.kind) {
    case 'link':
      // The upload item of an object that also holds other links decides about it.
      if (before.bundle.at !== undefined) return undefined;
      return {
        key: before.bundle.key,
        place: { sessionId: before.sessionId, chainId: before.chainId },
      };
    case 'base':
      return { key: before.bundle.key, place: { base: before.name, owner: before.owner } };
    case 'upload':
      return before.upload;
    case 'session':
    case 'checkpoint':
    case 'rollback':
    case 'rehydrate':
    case 'other':
    case undefined:
      return undefined;
  }
};
