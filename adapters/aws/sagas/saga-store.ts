/**
 * Sagas and Ledger tables behind `SagaStore`. Every move is one transaction over both (S9). Entries are only
 * ever added (S10).
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { SagaDefinition } from '../../../core/saga/model/plan.ts';
import type { ToolManifest } from '../../../core/saga/model/tool.ts';
import type { Beside, SagaStore, SessionFence, WakeToken } from '../../../core/saga/ports.ts';
import { mapAtOnce } from '../../../core/shared/at-once.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { hasEpoch, hasVersion, isNew, notOfLater } from '../conditions.ts';
import { documentClient } from '../document-client.ts';
import { checkFormat, SAGA_FORMAT } from '../item-format.ts';
import { sessionKey } from '../sessions/session-keys.ts';
import { createTable, type Table } from '../table.ts';
import type { Key, Stored } from '../table-reads.ts';
import { type Check, isUnstorable, transact, type Write } from '../table-writes.ts';
import {
  BUSY,
  entryItem,
  entryKey,
  headItem,
  headKey,
  ledgerKey,
  newestKey,
  parkKey,
  readDefinition,
  readEntry,
  readHead,
  readOutline,
  readPark,
  readRewind,
  readSessionSaga,
  readToken,
  readTool,
  rewindKey,
  sessionSagaItem,
  sessionSagaItems,
  sessionSagasKey,
  tokenKey,
  versionKey,
} from './saga-items.ts';
import { claimWrites, permitMethods } from './saga-permits.ts';
import { pinnedMethods } from './saga-pins.ts';
import { readSubmitted, submittedItem, submittedKey } from './submitted-items.ts';

/**
 * A list of 1,000 must not become 1,000 requests at once: the client has 50 connections, and others use them
 * too.
 */
const HEADS_AT_ONCE = 16;

export interface SagaStoreOptions {
  sagasTable: string;
  ledgerTable: string;
  /** Only functions that accept a session's epoch need it. */
  sessionsTable?: string | undefined;
  client?: DynamoDBClient;
}

/** A catalog of one kind. A version is stored once, and becomes the newest in the same transaction. */
const catalogMethods = <Entry extends { name: string; version: string }>(
  table: Table,
  kind: 'TOOL' | 'DEFINITION',
  read: (item: Stored) => Entry,
) => {
  const { client, tableName } = table;
  const get = async (name: string, version?: string): Promise<Entry | undefined> => {
    const key = version === undefined ? newestKey(kind, name) : versionKey(kind, name, version);
    const item = await table.get(key);
    return item === undefined ? undefined : read(item);
  };
  return {
    get,
    put: async (entry: Entry) => {
      const text = JSON.stringify(entry);
      const writes = [
        {
          tableName,
          item: { ...versionKey(kind, entry.name, entry.version), entry: text },
          condition: isNew,
        },
        { tableName, item: { ...newestKey(kind, entry.name), entry: text } },
      ];
      const { written } = await transact(client, writes, BUSY);
      if (written) return { written: true as const };
      const existing = await get(entry.name, entry.version);
      return { written: false as const, ...(existing === undefined ? {} : { existing }) };
    },
    list: async (): Promise<Entry[]> => (await table.query(`CATALOG#${kind}`)).map(read),
  };
};

export const createSagaStore = (options: SagaStoreOptions): SagaStore => {
  const { sagasTable, ledgerTable, sessionsTable } = options;
  const client = documentClient(options.client);
  const sagas = createTable(client, sagasTable);
  const ledger = createTable(client, ledgerTable);
  const tools = catalogMethods<ToolManifest>(sagas, 'TOOL', readTool);
  const definitions = catalogMethods<SagaDefinition>(sagas, 'DEFINITION', readDefinition);

  const getHeadItem = (sagaId: string) => sagas.get(headKey(sagaId));
  const getHead = async (sagaId: string): Promise<SagaHead | undefined> => {
    const item = await getHeadItem(sagaId);
    if (item === undefined) return undefined;
    checkFormat(item, SAGA_FORMAT);
    return readHead(item);
  };
  const commit = async (
    head: SagaHead,
    condition: Write['condition'],
    entries: readonly LedgerEntry[],
    also: readonly (Write | Check)[] = [],
  ) => {
    const writes = [
      ...also,
      { tableName: sagasTable, item: headItem(head), condition },
      ...entries.map((entry) => ({ tableName: ledgerTable, item: entryItem(entry), condition: isNew })),
    ];
    const { written } = await transact(client, writes, BUSY);
    if (written) return { written };
    const existing = await getHead(head.sagaId);
    return { written, ...(existing === undefined ? {} : { existing }) };
  };

  const fenceChecks = (fence: SessionFence | undefined): Check[] => {
    if (fence === undefined) return [];
    if (sessionsTable !== undefined) {
      return [{ tableName: sessionsTable, key: sessionKey(fence.sessionId), check: hasEpoch(fence.epoch) }];
    }
    throw new WalkbackError('ConfigurationError', 'The table of sessions is not named to this function.');
  };

  const besideWrites = (
    { sagaId }: SagaHead,
    { submitted, session, fence, claims = [] }: Beside = {},
  ): (Write | Check)[] => [
    ...fenceChecks(fence),
    ...(session === undefined
      ? []
      : [{ tableName: sagasTable, item: sessionSagaItem({ sagaId, ...session }) }]),
    ...(submitted === undefined
      ? []
      : [{ tableName: sagasTable, item: submittedItem(sagaId, submitted), condition: isNew }]),
    ...claimWrites(sagasTable, claims),
  ];

  const getRewind: SagaStore['getRewind'] = async (sessionId, requestId) => {
    const item = await sagas.get(rewindKey(sessionId, requestId));
    return item === undefined ? undefined : readRewind(item);
  };

  /** Create-only: answers what is there instead. */
  const createOnce = async <T extends object>(key: Key, record: T, read: (item: Stored) => T) => {
    const item = { ...key, ...record };
    const { written } = await transact(client, [{ tableName: sagasTable, item, condition: isNew }], BUSY);
    if (written) return { written };
    const existing = await sagas.get(key);
    return { written, ...(existing === undefined ? {} : { existing: read(existing) }) };
  };

  const listByStatus: SagaStore['listByStatus'] = async (status, limit, cursor, since) => {
    const by = {
      index: 'gsi_status',
      attribute: 'status',
      value: status,
      ...(since !== undefined && { since: { attribute: 'statusSince', value: since } }),
    };
    const { items, ...rest } = await sagas.index(by, limit, cursor);
    return { items: items.map(readOutline), ...rest };
  };

  // For showing, so heads that a newer release wrote are included.
  const getHeads: SagaStore['getHeads'] = async (sagaIds) => {
    const items = await mapAtOnce(sagaIds, HEADS_AT_ONCE, getHeadItem);
    return items.flatMap((item) => (item === undefined ? [] : [readHead(item)]));
  };

  return {
    getHead,
    getHeads,
    ...pinnedMethods(sagas),
    permits: permitMethods(sagas),
    createSaga: async (head, entries, claims = [], fence) =>
      commit(head, isNew, entries, [
        ...fenceChecks(fence),
        ...sessionSagaItems(head).map((item) => ({ tableName: sagasTable, item })),
        ...claimWrites(sagasTable, claims),
      ]),
    listBySession: async (sessionId) => (await sagas.query(sessionSagasKey(sessionId))).map(readSessionSaga),
    getSubmittedStep: async (sagaId, stepId) => {
      const item = await sagas.get(submittedKey(sagaId, stepId));
      return item === undefined ? undefined : readSubmitted(item);
    },
    append: async (head, expectedVersion, entries, beside) => {
      try {
        return await commit(head, hasVersion(expectedVersion), entries, besideWrites(head, beside));
      } catch (error) {
        if (isUnstorable(error)) return { written: false, unstorable: error.message };
        throw error;
      }
    },
    createPark: (record) => createOnce(parkKey(record.sessionId, record.requestId), record, readPark),
    createRewind: (record) => createOnce(rewindKey(record.sessionId, record.requestId), record, readRewind),
    getRewind,
    finishRewind: async (record) => {
      await sagas.put({ ...rewindKey(record.sessionId, record.requestId), ...record });
    },
    getEntry: async (sagaId, seq) => {
      const item = await ledger.get(entryKey(sagaId, seq));
      return item === undefined ? undefined : readEntry(item);
    },
    listEntries: async (sagaId) => (await ledger.query(ledgerKey(sagaId))).map(readEntry),
    pageEntries: async (sagaId, from, limit) => {
      const page = await ledger.page(ledgerKey(sagaId), { from: entryKey(sagaId, from).sk }, limit);
      const items = page.items.map(readEntry);
      const last = items.at(-1);
      return { items, ...(page.hasMore && last !== undefined ? { next: last.seq + 1 } : {}) };
    },
    listByStatus,
    listHeadsByStatus: async (status, limit, cursor) => {
      const { items, ...rest } = await listByStatus(status, limit, cursor);
      const heads = await getHeads(items.map(({ sagaId }) => sagaId));
      // The index may lag behind.
      return { items: heads.filter((head) => head.state.status === status), ...rest };
    },
    listEntriesByDay: async (day, limit, cursor) => {
      const by = { index: 'gsi_day', attribute: 'day', value: day };
      const { items, ...rest } = await ledger.index(by, limit, cursor);
      return { items: items.map(readEntry), ...rest };
    },
    listEntriesByExternalRef: async (externalRef, limit, cursor) => {
      const by = { index: 'gsi_external_ref', attribute: 'external_ref', value: externalRef };
      const { items, ...rest } = await ledger.index(by, limit, cursor);
      return { items: items.map(readEntry), ...rest };
    },
    putToken: async (token) => {
      const write = {
        tableName: sagasTable,
        item: { ...tokenKey(token.sagaId), ...token },
        condition: notOfLater(token),
      };
      const { written } = await transact(client, [write], BUSY);
      return written;
    },
    getToken: async (sagaId): Promise<WakeToken | undefined> => {
      const item = await sagas.get(tokenKey(sagaId));
      return item === undefined ? undefined : readToken(item);
    },
    putTool: tools.put,
    getTool: tools.get,
    listTools: tools.list,
    putDefinition: definitions.put,
    getDefinition: definitions.get,
    listDefinitions: definitions.list,
  };
};
