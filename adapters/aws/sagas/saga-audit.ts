/**
 * Checks the stored data of a saga against itself: every attribute derived from an entry against that
 * entry, every attribute of the head against a head's schema, and the pinned parts against their hashes.
 * Only reads.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { ReadOutcomes } from '../../../core/saga/ledger/anchor.ts';
import type { AuditedEntry, LedgerAudit } from '../../../core/saga/ledger/audit.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { ReplacedPlan } from '../../../core/saga/model/state.ts';
import { isPinnedChunk, STEPS_PER_CHUNK } from '../../../core/saga/plan/pinned-steps.ts';
import { packEffects } from '../../../core/saga/run/pack-state.ts';
import { hashJson } from '../../../core/shared/canonical-json.ts';
import { documentClient } from '../document-client.ts';
import { SAGA_FORMAT } from '../item-format.ts';
import { refusedFields } from '../read-item.ts';
import { createTable } from '../table.ts';
import type { Stored } from '../table-reads.ts';
import { stateText } from './packed-state.ts';
import {
  entryItem,
  headKey,
  inputKey,
  ledgerKey,
  readChunk,
  readEntry,
  readHead,
  readState,
  stepsKey,
  waitUntilOf,
} from './saga-items.ts';
import { storedChunk, storedHead, storedInput } from './stored-sagas.ts';
import { readSubmitted, submittedItem, submittedKey } from './submitted-items.ts';

/** DynamoDB's own limit: it refuses a query with a longer one. */
const MAX_SORT_KEY_BYTES = 1024;

/** Stricter than for reading: no other attributes, and no format of a later release. */
const headSchema = storedHead.extend({ format: z.int().min(1).max(SAGA_FORMAT) });

/** The attributes that a schema refuses. */
const refused = (schema: z.ZodType, item: Stored): string[] => {
  const { error } = schema.safeParse(item);
  return error === undefined ? [] : refusedFields(error);
};

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Whether we wrote this text. JSON with members in another order or spelling is not ours. */
const isOurJson = (text: unknown): boolean =>
  typeof text === 'string' && orUndefined(() => JSON.stringify(JSON.parse(text))) === text;

const isOurState = (stored: unknown): boolean => isOurJson(orUndefined(() => stateText(stored)));

const unique = (names: readonly string[]): string[] => [...new Set(names)];

const auditHeadItem = (item: Stored): { head?: SagaHead; wrong: string[] } => {
  const wrong = refused(headSchema, item);
  const read = orUndefined(() => readState(item));
  if (read === undefined) wrong.push('state');
  const head = orUndefined(() => readHead(item));
  // Without its hashes, nobody can say which pinned items are this saga's.
  if (read === undefined || head === undefined) return { wrong: unique(wrong) };
  if (read.packed !== packEffects(head.state.effects)) wrong.push('effects');
  if (!isOurState(item['state'])) wrong.push('state');
  if (item['status'] !== head.state.status) wrong.push('status');
  if (item['waitUntilMs'] !== waitUntilOf(head.state)) wrong.push('waitUntilMs');
  return { head, wrong: unique(wrong) };
};

const differing = (one: Stored, other: Stored): string[] =>
  unique([...Object.keys(one), ...Object.keys(other)]).filter((name) => one[name] !== other[name]);

const auditEntryItem = (item: Stored): AuditedEntry => {
  const named = item['saga_id'];
  const sagaId = typeof named === 'string' ? named : String(item['pk']).replace(/^SAGA#/, '');
  const place = { sagaId, place: String(item['sk']) };
  const entry: LedgerEntry | undefined = orUndefined(() => readEntry(item));
  const derived = entry && orUndefined(() => entryItem(entry));
  return entry === undefined || derived === undefined
    ? { ...place, wrong: ['detail'] }
    : { ...place, entry, wrong: differing(derived, item) };
};

type PinnedPlan = Pick<ReplacedPlan, 'planHash' | 'stepCount'>;

/** The plan of the start, those that rewinds brought, and the one that an open rewind brings. */
const pinnedPlans = ({ planHash, state }: SagaHead): PinnedPlan[] => {
  const { stepCount, plans = [], rewind } = state;
  return [{ planHash, stepCount }, ...plans, ...(rewind?.plan === undefined ? [] : [rewind.plan])];
};

export interface SagaAuditOptions {
  sagasTable: string;
  ledgerTable: string;
  client?: DynamoDBClient;
}

/** Reads the outcomes for anchors. An item that imitates another entry is anchored under its real place. */
export const createReadOutcomes = ({
  ledgerTable,
  client,
}: Pick<SagaAuditOptions, 'ledgerTable' | 'client'>): ReadOutcomes => {
  const ledger = createTable(documentClient(client), ledgerTable);
  return async (day, since, limit, cursor) => {
    const by = {
      index: 'gsi_day',
      attribute: 'day',
      value: day,
      since: { attribute: 'at', value: since },
    };
    const { items, ...rest } = await ledger.index(by, limit, cursor);
    const outcomes = items.map(({ pk, sk, hash: entryHash, at }) => ({
      sagaId: String(pk).replace(/^SAGA#/, ''),
      seq: Number(sk),
      hash: String(entryHash),
      at: String(at),
    }));
    return { items: outcomes, ...rest };
  };
};

export const createSagaAudit = ({ sagasTable, ledgerTable, client }: SagaAuditOptions): LedgerAudit => {
  const sagas = createTable(documentClient(client), sagasTable);
  const ledger = createTable(documentClient(client), ledgerTable);

  const inputProblem = async ({ sagaId, inputHash }: SagaHead): Promise<string | undefined> => {
    const item = await sagas.get(inputKey(sagaId, inputHash));
    if (item === undefined) return 'the pinned input is gone';
    const { success, data } = storedInput.safeParse(item);
    const sound = success && isOurJson(data.input) && hashJson(JSON.parse(data.input)) === inputHash;
    return sound ? undefined : 'the pinned input is not what was pinned';
  };

  const chunkProblem = async (sagaId: string, { planHash, stepCount }: PinnedPlan, at: number) => {
    const item = await sagas.get(stepsKey(sagaId, planHash, at));
    const first = at * STEPS_PER_CHUNK;
    const which = `pinned steps ${first + 1} to ${Math.min(first + STEPS_PER_CHUNK, stepCount)}`;
    if (item === undefined) return `${which} are gone`;
    const chunk = orUndefined(() => readChunk(item));
    const sound =
      chunk !== undefined &&
      storedChunk.safeParse(item).success &&
      isOurJson(item['steps']) &&
      isPinnedChunk(planHash, at, chunk);
    return sound ? undefined : `${which} are not what was pinned`;
  };

  /** The chunks of a child are stored with its root. */
  const chunkProblems = async (head: SagaHead): Promise<(string | undefined)[]> => {
    const problems: (string | undefined)[] = [];
    for (const plan of pinnedPlans(head)) {
      for (let at = 0; at * STEPS_PER_CHUNK < plan.stepCount; at += 1) {
        problems.push(await chunkProblem(head.root ?? head.sagaId, plan, at));
      }
    }
    return problems;
  };

  /** For an interactive saga: the ledger says which steps were submitted, and under which hash. */
  const submittedProblems = async ({ sagaId }: SagaHead): Promise<string[]> => {
    const problems: string[] = [];
    for (const item of await ledger.query(ledgerKey(sagaId))) {
      const entry = orUndefined(() => readEntry(item));
      if (entry?.direction !== 'step' || entry.status !== 'submitted') continue;
      const stored = await sagas.get(submittedKey(sagaId, entry.step));
      const submitted = stored && orUndefined(() => readSubmitted(stored));
      const derived = submitted && submittedItem(sagaId, submitted);
      const sound =
        submitted?.planHash === entry.planHash &&
        submitted.requestHash === entry.requestHash &&
        submitted.seq === entry.seq &&
        derived !== undefined &&
        differing(derived, stored ?? {}).length === 0;
      if (!sound) problems.push(`the submitted step ${entry.step} is not what was pinned, or is gone`);
    }
    return problems;
  };

  return {
    head: async (sagaId) => {
      const item = await sagas.get(headKey(sagaId));
      return item === undefined ? { wrong: [] } : auditHeadItem(item);
    },
    pins: async (head) => {
      const isInteractive = head.state.interactive !== undefined;
      const problems = [
        await inputProblem(head),
        ...(await (isInteractive ? submittedProblems(head) : chunkProblems(head))),
      ];
      return problems.filter((problem) => problem !== undefined);
    },
    entries: async (sagaId, after, limit) => {
      const page = await ledger.page(ledgerKey(sagaId), { after }, limit);
      return { items: page.items.map(auditEntryItem), hasMore: page.hasMore };
    },
    has: async (sagaId, place) => {
      if (Buffer.byteLength(place) > MAX_SORT_KEY_BYTES) return false;
      const { items } = await ledger.page(ledgerKey(sagaId), { from: place }, 1);
      return items[0]?.['sk'] === place;
    },
    day: async (day, limit, cursor) => {
      const by = { index: 'gsi_day', attribute: 'day', value: day };
      const { items, ...rest } = await ledger.index(by, limit, cursor);
      return { items: items.map(auditEntryItem), ...rest };
    },
  };
};
