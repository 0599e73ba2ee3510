/** Ledgers of sagas made of facts, and what `query-ledger` answers about them. */
import { expect } from 'vitest';
import type { LedgerEffect, LedgerTotals } from '../../contract/ledger-answers.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { initialState } from '../../core/saga/decide/fold.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import { createQueryLedger } from '../../core/saga/ledger/query-ledger.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Fact, LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';

export const DAY_MS = 86_400_000;
export const START = Date.parse('2026-03-01T00:00:00.000Z');
export const at = (hours: number): string => new Date(START + hours * 3_600_000).toISOString();

export const stepOf = (stepIndex: number, tool: string) => ({
  stepIndex,
  step: `s${stepIndex}`,
  tool,
  version: '1',
  epoch: 0,
});
export const attempt = { attempt: 1, idempotencyKey: 'k' };

export const started = (stepIndex: number, tool: string, more: object = {}): Fact => ({
  direction: 'forward',
  status: 'started',
  ...stepOf(stepIndex, tool),
  ...attempt,
  effect: 'compensatable',
  deadlineMs: 0,
  argumentsHash: 'h',
  ...more,
});
export const committed = (stepIndex: number, tool: string, more: object = {}): Fact => ({
  direction: 'forward',
  status: 'committed',
  ...stepOf(stepIndex, tool),
  ...attempt,
  result: null,
  ...more,
});
/** Its call may have taken effect. */
export const unknown = (stepIndex: number, tool: string, more: object = {}): Fact => ({
  direction: 'forward',
  status: 'unknown',
  ...stepOf(stepIndex, tool),
  ...attempt,
  error: { name: 'Lost', message: 'no answer' },
  answered: false,
  ...more,
});
export const undo = (
  status: 'committed' | 'failed',
  stepIndex: number,
  tool: string,
  more: object = {},
): Fact =>
  status === 'committed'
    ? { direction: 'undo', status, ...stepOf(stepIndex, tool), ...attempt, ...more }
    : {
        direction: 'undo',
        status,
        ...stepOf(stepIndex, tool),
        error: { name: 'No', message: 'no' },
        ...more,
      };

/** Facts with the hours at which they happened, as the ledger of a saga. */
export const ledgerOf = (
  sagaId: string,
  agent: string,
  facts: readonly (readonly [number, Fact])[],
): LedgerEntry[] => {
  const entries: LedgerEntry[] = [];
  let place = { seq: 0, tip: GENESIS_HASH };
  const first: Fact = {
    direction: 'saga',
    status: 'started',
    planHash: 'p',
    inputHash: 'i',
    stepCount: 9,
    requestHash: 'r',
  };
  for (const [hours, fact] of [[facts[0]?.[0] ?? 0, first] as const, ...facts]) {
    const actor = fact === first ? agent : fact.direction === 'operator' ? 'olga' : 'engine';
    const made = chain(sagaId, place, [fact], { at: at(hours), actor });
    entries.push(...made.entries);
    place = made.tip;
  }
  return entries;
};

/** A row as `query-ledger` answers it: of a saga that somebody cancels, or what is given. */
export const ledgerRow = (given: Partial<LedgerRow> = {}): LedgerRow => ({
  saga_id: 's',
  seq: 0,
  step_index: null,
  step: null,
  tool: null,
  direction: 'saga',
  status: 'cancel_requested',
  idempotency_key: null,
  external_ref: null,
  attempt: null,
  error: null,
  actor: 'me',
  at: '2026-01-01T00:00:00.000Z',
  prev_hash: '0',
  hash: '1',
  detail: '{}',
  amount: null,
  currency: null,
  amount_direction: null,
  external_url: null,
  proof: null,
  ...given,
});

/** `tickMs`: what passes each time that somebody looks at the clock. */
export const openLedger = (ledgers: readonly LedgerEntry[][], now = at(24 * 6), tickMs = 0) => {
  let nowMs = Date.parse(now);
  const memory = memorySagaStore();
  for (const entries of ledgers) {
    const [first] = entries;
    if (first === undefined) continue;
    memory.ledger.set(first.sagaId, entries);
    const { sagaId } = first;
    const last = entries.at(-1) ?? first;
    memory.heads.set(sagaId, {
      sagaId,
      version: 1,
      seq: entries.length,
      tip: last.hash,
      state: initialState(9),
      requestHash: '',
      planHash: 'p',
      inputHash: 'i',
      requestedBy: first.actor,
      historyEvents: 0,
      createdAt: first.at,
      updatedAt: last.at,
      statusSince: last.at,
    });
  }
  const query = createQueryLedger({
    store: memory.store,
    audit: {
      head: () => Promise.reject(new Error('not asked')),
      pins: () => Promise.reject(new Error('not asked')),
      entries: () => Promise.reject(new Error('not asked')),
      has: () => Promise.reject(new Error('not asked')),
      day: () => Promise.reject(new Error('not asked')),
    },
    readAnchors: () => Promise.reject(new Error('not asked')),
    clock: { now: () => new Date((nowMs += tickMs)), sleep: () => Promise.resolve() },
  });
  /** Every page. */
  const effects = async (asked: QueryLedgerInput): Promise<LedgerEffect[]> => {
    const rows: LedgerEffect[] = [];
    let cursor: string | undefined;
    do {
      const answer = await query({ ...asked, view: 'effects', ...(cursor === undefined ? {} : { cursor }) });
      rows.push(...(answer.effects ?? []));
      const limit = asked.limit ?? 200;
      const count = answer.effects?.length ?? 0;
      expect(count).toBeLessThanOrEqual(limit);
      // Nobody may take a short page for the end. Where the clock runs, the time may be over.
      if (answer.cursor !== undefined && tickMs === 0) expect(count).toBe(limit);
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return rows;
  };
  const totals = async (asked: QueryLedgerInput): Promise<LedgerTotals> => {
    const sum = createTotals();
    let cursor: string | undefined;
    do {
      const answer = await query({ ...asked, view: 'totals', ...(cursor === undefined ? {} : { cursor }) });
      if (answer.totals !== undefined) sum.addTotals(answer.totals);
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return sum.end();
  };
  return { store: memory.store, query, effects, totals };
};
