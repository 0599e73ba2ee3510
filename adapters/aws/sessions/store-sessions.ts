/** Session and review copy: the items that move, fenced by their version. */
import type { Session } from '../../../core/checkpoint/model.ts';
import type { SessionStore, WriteOutcome } from '../../../core/checkpoint/ports/stores.ts';
import { hasVersion, isNew } from '../conditions.ts';
import { checkFormat, SESSION_FORMAT } from '../item-format.ts';
import type { Table } from '../table.ts';
import type { Item, Key, Stored } from '../table-reads.ts';
import { type ConditionalPut, type PutOutcome, transact } from '../table-writes.ts';
import { createListSessions } from './session-index.ts';
import { checkpointItem, copyItem, sessionItem, toolItem } from './session-items.ts';
import { copyKey, progressKey, sessionKey } from './session-keys.ts';
import { readCopy, readProgress, readSession } from './stored-items.ts';

type Methods = Pick<
  SessionStore,
  | 'getSession'
  | 'createSession'
  | 'updateSession'
  | 'listSessions'
  | 'getCopy'
  | 'updateCopy'
  | 'putProgress'
  | 'getProgress'
>;

/** A session that this release may write again. */
export const readMovable = (item: Stored): Session => {
  checkFormat(item, SESSION_FORMAT);
  return readSession(item);
};

/** Of the items that refused a write, the one with this key. */
export const outcomeFor = <T>(
  outcome: PutOutcome,
  sk: string,
  read: (item: Record<string, unknown>) => T,
): WriteOutcome<T> => {
  if (outcome.written) return outcome;
  const item = outcome.existing.find((one) => one.sk === sk);
  return { written: false, existing: item === undefined ? undefined : read(item) };
};

/** Writes all items or none. */
export const transactSession = (
  { client, tableName }: Table,
  writes: readonly (ConditionalPut | { lasting: Item } | { prolong: Key; expiresAt: number })[],
): Promise<PutOutcome> =>
  transact(
    client,
    writes.map((write) => ({ tableName, ...write })),
    { busy: 'The session is being written by others. Call again.', withExisting: true },
  );

export const createSessionMethods = (table: Table): Methods => ({
  getSession: async (sessionId) => {
    const item = await table.get(sessionKey(sessionId));
    return item === undefined ? undefined : readMovable(item);
  },

  createSession: async (session, baseline) => {
    const outcome = await transactSession(table, [
      { item: sessionItem(session), condition: isNew },
      { item: checkpointItem(baseline), condition: isNew },
      { item: toolItem(baseline), condition: isNew },
    ]);
    return outcomeFor(outcome, 'META', readSession);
  },

  updateSession: async (session, expectedVersion) => {
    const outcome = await transactSession(table, [
      { item: sessionItem(session), condition: hasVersion(expectedVersion) },
    ]);
    return outcomeFor(outcome, 'META', readSession);
  },

  listSessions: createListSessions(table),

  putProgress: (progress) => table.putAll([{ ...progressKey(progress.sessionId), ...progress }]),

  getProgress: async (sessionId) => {
    const item = await table.get(progressKey(sessionId));
    return item === undefined ? undefined : readProgress(item);
  },

  getCopy: async (sessionId, sandboxId) => {
    const item = await table.get(copyKey(sessionId, sandboxId));
    return item === undefined ? undefined : readCopy(item);
  },

  updateCopy: async (copy, expectedVersion) => {
    const outcome = await transactSession(table, [
      { item: copyItem(copy), condition: hasVersion(expectedVersion) },
    ]);
    return outcomeFor(outcome, copyKey(copy.sessionId, copy.sandboxId).sk, readCopy);
  },
});
