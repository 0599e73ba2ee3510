/** What must agree at the end: book, state, observation, and the rows and totals of the ledger. */
import { isDeepStrictEqual } from 'node:util';
import type { LedgerEffect, LedgerTotals } from '../../../contract/ledger-answers.ts';
import { fold } from '../../../core/saga/decide/fold.ts';
import { differingHeadFields } from '../../../core/saga/entries/check-head.ts';
import { findChainBreak } from '../../../core/saga/entries/hash-chain.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import { idempotencyKey } from '../../../core/saga/model/keys.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { EffectRecord, EffectStatus } from '../../../core/saga/model/state.ts';
import { observe } from '../../../core/saga/view/observation.ts';
import type { Told } from './agents.ts';
import type { Book, BookedEffect } from './effects.ts';

export const isSound = (head: SagaHead, entries: readonly LedgerEntry[]): boolean =>
  findChainBreak(entries, head) === undefined &&
  isDeepStrictEqual(fold(entries), head.state) &&
  differingHeadFields(head, entries).length === 0;

const DIGITS = 12;

/** A decimal as a whole number of its last possible digit. On its own, so that it does not share a mistake with the code under test. */
const exact = (text: string): bigint => {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`no amount: ${text}`);
  const value = BigInt(`${whole}${fraction.padEnd(DIGITS, '0')}`);
  return sign === '-' ? -value : value;
};

export const rowKey = (row: LedgerEffect): string => idempotencyKey(row.saga_id, row.step_index, row.epoch);

/** How the row of a committed effect may read at the end. Every other status is a mistake then. */
const ROWS: Partial<Record<EffectStatus, readonly LedgerEffect['status'][]>> = {
  committed: ['stands'],
  undone: ['undone'],
  resolved: ['resolved'],
  // By an operator, or by an undo or a rewind that was allowed to leave it.
  skipped: ['skipped', 'accepted'],
};

const differsInRow = (status: EffectStatus, row: LedgerEffect, booked?: BookedEffect): string[] => {
  const { amount, undone_amount: undone } = row;
  const found: string[] = [];
  if (ROWS[status]?.includes(row.status) !== true) found.push(`its row is ${row.status}`);
  if (amount !== null && booked !== undefined && exact(amount) !== exact(booked.amount))
    found.push(`its row says ${amount}, the book ${booked.amount}`);
  if (row.status === 'accepted' && (row.undone_by === null || row.evidence === null))
    found.push('its row does not say who let it stand, and why');
  if (row.status !== 'undone') return found;
  if (undone !== null && booked?.undone !== undefined && exact(undone) !== exact(booked.undone))
    found.push(`its row says ${undone} was given back, the book ${booked.undone}`);
  if (amount !== null && undone === null && row.undone_problem === null)
    found.push(`its row has ${amount} and nothing about what was given back`);
  return found;
};

const OPEN: readonly EffectStatus[] = ['started', 'undo_delayed', 'undo_failed', 'blocked'];
const GONE: readonly EffectStatus[] = ['rejected', 'undone', 'resolved'];

const differsInEffect = (
  { status }: EffectRecord,
  booked: BookedEffect | undefined,
  row: LedgerEffect | undefined,
  isTold: boolean,
): string[] => {
  const stands = booked?.stands === true;
  const found: string[] = [];
  if (OPEN.includes(status)) found.push('the saga has ended');
  if (stands && GONE.includes(status)) found.push('it stands');
  if (!stands && status === 'committed') found.push('it does not stand');
  if (stands && !isTold) found.push('it stands and the observation does not say so');
  if (row === undefined && booked !== undefined) found.push('it has no row');
  if (row?.doubt === null && booked === undefined) found.push('its row is in no doubt');
  return row === undefined ? found : [...found, ...differsInRow(status, row, booked)];
};

/** Also says which effects of the book are of this saga. */
export const compareSaga = (
  head: SagaHead,
  entries: readonly LedgerEntry[],
  book: Book,
  rows: ReadonlyMap<string, LedgerEffect>,
): { keys: string[]; found: string[] } => {
  const { sagaId, state } = head;
  const { committed, notCompensated } = observe(head, entries);
  const left = new Set(notCompensated.map((one) => one.idempotencyKey));
  const standing = new Set(committed.map(({ step, epoch = 0 }) => `${step}@${epoch}`));
  const keys: string[] = [];
  const found: string[] = [];
  for (const effect of state.effects.filter(({ children }) => children === undefined)) {
    const key = idempotencyKey(sagaId, effect.step, effect.epoch);
    keys.push(key);
    if (effect.kind === 'read') continue;
    const booked = book.effects.get(key);
    const isTold = left.has(key) || standing.has(`${booked?.step}@${effect.epoch}`);
    const differs = differsInEffect(effect, booked, rows.get(key), isTold);
    if (state.status === 'COMPENSATED' && effect.status === 'committed') differs.push('the saga is undone');
    found.push(
      ...differs.map(
        (what) => `${key} (${booked?.tool ?? 'not in the book'}) is ${effect.status}, but ${what}`,
      ),
    );
  }
  return { keys, found };
};

/** No agent was told that nothing happened, or that it was taken back, while it stands. */
export const compareTold = (told: readonly Told[], book: Book): string[] =>
  told.flatMap(({ sagaId, step, status }) => {
    const stands = [...book.effects.values()].some(
      (one) => one.sagaId === sagaId && one.step === step && one.stands,
    );
    const isGone = status === 'rejected' || status === 'undone';
    return isGone && stands ? [`${sagaId}/${step} stands, and its agent was told ${status}`] : [];
  });

const GROUPS = {
  all: () => null,
  byTool: ({ tool }) => tool,
  byAgent: ({ agent }) => agent,
  byDay: ({ committed_at }) => committed_at.slice(0, 10),
} satisfies Record<string, (row: LedgerEffect) => string | null>;

const SIGNS = { in: 1n, out: -1n, neither: 0n } as const;

/** Totals are what the rows add up to. */
export const compareTotals = (rows: readonly LedgerEffect[], totals: LedgerTotals): string[] =>
  (['all', 'byTool', 'byAgent', 'byDay'] as const).flatMap((group) => {
    const keyOf: (row: LedgerEffect) => string | null = GROUPS[group];
    const sums = new Map<string, bigint>();
    const add = (row: LedgerEffect, currency: string | null, amount: bigint): void => {
      const key = JSON.stringify([keyOf(row), currency]);
      sums.set(key, (sums.get(key) ?? 0n) + amount);
    };
    for (const row of rows) {
      const sign = SIGNS[row.amount_direction ?? 'neither'];
      add(row, row.currency, sign * exact(row.amount ?? '0'));
      if (row.status === 'undone') add(row, row.undone_currency, -sign * exact(row.undone_amount ?? '0'));
    }
    const told = new Map(
      totals[group].map(({ key, currency, net }) => [JSON.stringify([key, currency]), exact(net)]),
    );
    return isDeepStrictEqual(told, sums)
      ? []
      : [`totals ${group}: ${String([...told])}, and the rows add up to ${String([...sums])}`];
  });
