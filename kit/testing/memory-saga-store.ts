import type { Json } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-observation.ts';
import { KIB } from '../../contract/sizes.ts';
import { fromRow, isOutcome, toRow } from '../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { Claim } from '../../core/saga/model/permit.ts';
import type { PinnedSaga, SagaDefinition } from '../../core/saga/model/plan.ts';
import type { ParkRecord } from '../../core/saga/model/session-park.ts';
import type { RewindRecord } from '../../core/saga/model/session-rewind.ts';
import { waitEndMs } from '../../core/saga/model/state.ts';
import type { SubmittedStep } from '../../core/saga/model/submitted-step.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import type { Page, SagaStore, SessionFence, WakeToken } from '../../core/saga/ports.ts';
import { numbered } from '../../core/shared/cursor.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';

import { memoryPermits } from './memory-permits.ts';

interface MemorySagaStoreOptions {
  /** Whether a session is in this epoch now; used for the fence of a transaction. */
  inEpoch?: (fence: SessionFence) => boolean;
}

const PLACE = numbered('');

/** The page that begins at the cursor. */
const pageOf = <Item>(sorted: readonly Item[], limit: number, cursor: string | undefined): Page<Item> => {
  const from = cursor === undefined ? 0 : PLACE.read(cursor, { from: 1, to: Number.MAX_SAFE_INTEGER });
  const next = from + limit;
  return {
    items: sorted.slice(from, next),
    ...(next < sorted.length ? { cursor: PLACE.write(next) } : {}),
  };
};

/** In the order of an index: by time. */
const entriesOf = (found: LedgerEntry[], limit: number, cursor: string | undefined): Page<LedgerEntry> => {
  const sorted = found.toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  return structuredClone(pageOf(sorted, limit, cursor));
};

const isLater = (kept: WakeToken, token: WakeToken): boolean =>
  kept.generation > token.generation ||
  (kept.generation === token.generation &&
    (kept.enteredMs > token.enteredMs || (kept.enteredMs === token.enteredMs && kept.retry > token.retry)));

/** DynamoDB's limit of one item. */
const MAX_ITEM_BYTES = 400 * KIB;

/** The two tables in memory, with their conditions. Inputs and outputs are copied, as over a network. */
export const memorySagaStore = ({ inEpoch = () => true }: MemorySagaStoreOptions = {}) => {
  const heads = new Map<string, SagaHead>();
  const pinned = new Map<string, PinnedSaga['steps']>();
  const inputs = new Map<string, Json>();
  const ledger = new Map<string, LedgerEntry[]>();
  const tokens = new Map<string, WakeToken>();
  const submitted = new Map<string, SubmittedStep>();
  const rewinds = new Map<string, RewindRecord>();
  const parks = new Map<string, ParkRecord>();
  /** Sagas that took a step of a session in which they were not started. */
  const ofSessions = new Map<string, { sessionId: string; sagaId: string; createdAt: string }>();
  const tools: ToolManifest[] = [];
  const definitions: SagaDefinition[] = [];
  const writes = { transactions: 0, entries: 0 };

  const { permits, mayClaim, claim } = memoryPermits();

  const put = (
    head: SagaHead,
    entries: readonly LedgerEntry[],
    { others = 1, claims = [] }: { others?: number; claims?: readonly Claim[] } = {},
  ) => {
    claim(claims);
    // DynamoDB's limit of one transaction.
    const items = entries.length + 2 * claims.length + others;
    if (items > 100) throw new Error(`${items} items in one transaction`);
    const mine = ledger.get(head.sagaId) ?? [];
    for (const entry of entries) {
      if (mine[entry.seq] !== undefined) throw new Error(`entry ${entry.seq} is written already`);
      mine[entry.seq] = fromRow(structuredClone(toRow(entry)));
    }
    ledger.set(head.sagaId, mine);
    heads.set(head.sagaId, structuredClone(head));
    writes.transactions += 1;
    writes.entries += entries.length;
  };
  const versions = <Entry extends { name: string; version: string }>(list: Entry[]) => ({
    put: async (entry: Entry) => {
      const existing = list.find((one) => one.name === entry.name && one.version === entry.version);
      if (existing !== undefined) return { written: false as const, existing };
      list.push(structuredClone(entry));
      return { written: true as const };
    },
    get: async (name: string, version?: string) =>
      list.findLast((one) => one.name === name && (version === undefined || one.version === version)),
    newest: async () => [...new Map(list.map((one) => [one.name, one])).values()],
  });
  const toolVersions = versions(tools);
  const definitionVersions = versions(definitions);
  const all = (): LedgerEntry[] => [...ledger.values()].flat();

  /** A page, longest in this status first. The cursor is where the next one begins. */
  const inStatus = (status: SagaStatus, limit: number, cursor?: string, since = ''): Page<SagaHead> => {
    const all = [...heads.values()]
      .filter(({ state, statusSince }) => state.status === status && statusSince >= since)
      .toSorted((one, other) => one.statusSince.localeCompare(other.statusSince));
    return pageOf(all, limit, cursor);
  };

  const store: SagaStore = {
    getHead: async (sagaId) => structuredClone(heads.get(sagaId)),
    getHeads: async (sagaIds) =>
      structuredClone(sagaIds.map((sagaId) => heads.get(sagaId)).filter((head) => head !== undefined)),
    putPinned: async (saga) => {
      pinned.set(`${saga.sagaId} ${saga.planHash}`, structuredClone(saga.steps));
      inputs.set(`${saga.sagaId} ${saga.inputHash}`, structuredClone(saga.input));
      for (const { planHash, steps } of saga.plans ?? []) {
        pinned.set(`${saga.sagaId} ${planHash}`, structuredClone(steps));
      }
    },
    putInput: async (sagaId, inputHash, input) => {
      inputs.set(`${sagaId} ${inputHash}`, structuredClone(input));
    },
    getPinnedInput: async (sagaId, inputHash) => {
      const input = inputs.get(`${sagaId} ${inputHash}`);
      if (input === undefined) throw new Error(`nothing pinned for ${sagaId}`);
      return structuredClone(input);
    },
    getPinnedStep: async (sagaId, planHash, index) => {
      const step = pinned.get(`${sagaId} ${planHash}`)?.[index];
      if (step === undefined) throw new Error(`no step ${index}`);
      return structuredClone(step);
    },
    permits,
    createSaga: async (head, entries, claims = [], fence) => {
      const existing = heads.get(head.sagaId);
      if (existing !== undefined) return { written: false, existing: structuredClone(existing) };
      if (!mayClaim(claims) || (fence !== undefined && !inEpoch(fence))) return { written: false };
      put(head, entries, { claims });
      return { written: true };
    },
    getSubmittedStep: async (sagaId, stepId) => structuredClone(submitted.get(`${sagaId} ${stepId}`)),
    append: async (head, expectedVersion, entries, beside = {}) => {
      const existing = heads.get(head.sagaId);
      const place = `${head.sagaId} ${beside.submitted?.stepId}`;
      if (existing?.version !== expectedVersion || submitted.has(place)) {
        return existing === undefined
          ? { written: false }
          : { written: false, existing: structuredClone(existing) };
      }
      const sizeBytes = Math.max(0, ...entries.map((entry) => jsonBytes(toRow(entry))));
      if (sizeBytes > MAX_ITEM_BYTES)
        return { written: false, unstorable: `an entry takes ${sizeBytes} bytes` };
      const { claims = [], fence, session } = beside;
      if (!mayClaim(claims) || (fence !== undefined && !inEpoch(fence)))
        return { written: false, existing: structuredClone(existing) };
      put(head, entries, { others: beside.submitted === undefined ? 1 : 4, claims });
      if (session !== undefined) {
        ofSessions.set(`${session.sessionId} ${head.sagaId}`, { ...session, sagaId: head.sagaId });
      }
      if (beside.submitted !== undefined) submitted.set(place, structuredClone(beside.submitted));
      return { written: true };
    },
    getEntry: async (sagaId, seq) => structuredClone(ledger.get(sagaId)?.[seq]),
    listEntries: async (sagaId) => structuredClone(ledger.get(sagaId) ?? []),
    pageEntries: async (sagaId, from, limit) => {
      const all = ledger.get(sagaId) ?? [];
      const next = from + limit;
      return {
        items: structuredClone(all.slice(from, next)),
        ...(next < all.length ? { next } : {}),
      };
    },
    createPark: async (record) => {
      const key = `${record.sessionId} ${record.requestId}`;
      const existing = parks.get(key);
      if (existing !== undefined) return { written: false, existing: structuredClone(existing) };
      parks.set(key, structuredClone(record));
      return { written: true };
    },
    createRewind: async (record) => {
      const existing = rewinds.get(`${record.sessionId} ${record.requestId}`);
      if (existing !== undefined) return { written: false, existing: structuredClone(existing) };
      rewinds.set(`${record.sessionId} ${record.requestId}`, structuredClone(record));
      return { written: true };
    },
    getRewind: async (sessionId, requestId) => structuredClone(rewinds.get(`${sessionId} ${requestId}`)),
    finishRewind: async (record) => {
      rewinds.set(`${record.sessionId} ${record.requestId}`, structuredClone(record));
    },
    listBySession: async (sessionId) =>
      [...heads.values(), ...ofSessions.values()]
        .filter((one) => one.sessionId === sessionId)
        .map(({ sagaId, createdAt }) => ({ sagaId, createdAt }))
        .toSorted((one, other) => {
          const [key, otherKey] = [one, other].map(({ createdAt, sagaId }) => `${createdAt}#${sagaId}`);
          return key === otherKey ? 0 : (key ?? '') < (otherKey ?? '') ? -1 : 1;
        }),
    listByStatus: async (...asked) => {
      const { items, ...rest } = inStatus(...asked);
      const outlines = items.map(({ sagaId, statusSince, state }) => ({
        sagaId,
        statusSince,
        waitUntilMs: waitEndMs(state),
      }));
      return { items: outlines, ...rest };
    },
    listHeadsByStatus: async (...asked) => inStatus(...asked),
    listEntriesByDay: async (day, limit, cursor) =>
      entriesOf(
        all().filter((entry) => entry.at.startsWith(day) && isOutcome(entry)),
        limit,
        cursor,
      ),
    listEntriesByExternalRef: async (reference, limit, cursor) =>
      entriesOf(
        all().filter((entry) => 'externalRef' in entry && entry.externalRef === reference),
        limit,
        cursor,
      ),
    putToken: async (token) => {
      const kept = tokens.get(token.sagaId);
      if (kept !== undefined && isLater(kept, token)) return false;
      tokens.set(token.sagaId, token);
      return true;
    },
    getToken: async (sagaId) => tokens.get(sagaId),
    putTool: toolVersions.put,
    getTool: toolVersions.get,
    putDefinition: definitionVersions.put,
    getDefinition: definitionVersions.get,
    listTools: toolVersions.newest,
    listDefinitions: definitionVersions.newest,
  };
  return { store, heads, ledger, writes };
};
