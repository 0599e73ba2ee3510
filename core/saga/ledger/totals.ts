/**
 * Sums of effect rows, exact, per currency and per direction of the money. The sums of the parts of a long
 * range can be joined with `addTotals`. Pure.
 */
import { AMOUNT_DIRECTIONS, type AmountDirection } from '../../../contract/amount-direction.ts';
import type {
  LedgerEffect,
  LedgerTotal,
  LedgerTotals,
  Reconciliation,
} from '../../../contract/ledger-answers.ts';
import { dayIn, UTC } from '../../../contract/zones.ts';
import { addDecimals, subtractDecimals } from '../model/money.ts';

type Group = Map<string, LedgerTotal>;
type Moved = LedgerTotal['in'];

const NOTHING: Moved = { amount: '0', undone: '0', byHand: '0' };

const keyOf = (key: string | null, currency: string | null): string => JSON.stringify([key, currency]);

const sumOf = (before: Moved, more: Partial<Moved> = {}): Moved => ({
  amount: addDecimals(before.amount, more.amount ?? '0'),
  undone: addDecimals(before.undone, more.undone ?? '0'),
  byHand: addDecimals(before.byHand, more.byHand ?? '0'),
});

const left = ({ amount, undone }: Moved): string => subtractDecimals(amount, undone);

type More = Partial<Omit<LedgerTotal, 'in' | 'out' | 'neither'>> & {
  in?: Partial<Moved>;
  out?: Partial<Moved>;
  neither?: Partial<Moved>;
};

const addTo = (group: Group, key: string | null, currency: string | null, more: More): void => {
  const at = keyOf(key, currency);
  const before = group.get(at);
  const moved = {
    in: sumOf(before?.in ?? NOTHING, more.in),
    out: sumOf(before?.out ?? NOTHING, more.out),
    neither: sumOf(before?.neither ?? NOTHING, more.neither),
  };
  group.set(at, {
    key,
    currency,
    effects: (before?.effects ?? 0) + (more.effects ?? 0),
    undoneEffects: (before?.undoneEffects ?? 0) + (more.undoneEffects ?? 0),
    byHandEffects: (before?.byHandEffects ?? 0) + (more.byHandEffects ?? 0),
    ...moved,
    net: subtractDecimals(left(moved.in), left(moved.out)),
  });
};

const compare = (one: string | null, other: string | null): number => {
  if (one === other) return 0;
  // Sums without a key or a currency come last.
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
};

const sorted = (group: Group): LedgerTotal[] =>
  [...group.values()].sort(
    (one, other) => compare(one.key, other.key) || compare(one.currency, other.currency),
  );

const meanOf = (reconciliations: readonly Reconciliation[]): number | null => {
  const known = reconciliations.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]));
  return known.length === 0 ? null : Math.round(known.reduce((sum, one) => sum + one, 0) / known.length);
};

/** The directions in which any of these sums moved money. */
export const directionsIn = (totals: readonly LedgerTotal[]): AmountDirection[] =>
  AMOUNT_DIRECTIONS.filter((direction) =>
    totals.some((one) => one[direction].amount !== '0' || one[direction].undone !== '0'),
  );

const GROUPS = ['all', 'byTool', 'byAgent', 'byDay', 'byStatus'] as const;

/** `dayOf`: the day on which a row counts; default the day of the effect in UTC. */
export const createTotals = (
  dayOf: (row: LedgerEffect) => string = ({ committed_at: at }) => dayIn(UTC, at),
) => {
  const groups = {
    all: new Map(),
    byTool: new Map(),
    byAgent: new Map(),
    byDay: new Map(),
    byStatus: new Map(),
  } satisfies Record<(typeof GROUPS)[number], Group>;
  // A saga may have effects in several parts, but counts once.
  const reconciliations = new Map<string, Reconciliation>();
  const addReconciliation = (one: Reconciliation): void =>
    void reconciliations.set(JSON.stringify([one.sagaId, one.failedAt]), one);

  const addEverywhere = (row: LedgerEffect, currency: string | null, more: More): void => {
    addTo(groups.all, null, currency, more);
    addTo(groups.byTool, row.tool, currency, more);
    addTo(groups.byAgent, row.agent, currency, more);
    addTo(groups.byDay, dayOf(row), currency, more);
    addTo(groups.byStatus, row.status, currency, more);
  };

  return {
    add: (row: LedgerEffect, ofSaga: readonly Reconciliation[]): void => {
      const direction = row.amount_direction ?? 'neither';
      const amount = row.amount ?? '0';
      addEverywhere(row, row.currency, { effects: 1, [direction]: { amount } });
      if (row.status === 'undone') {
        const undone = row.undone_amount ?? '0';
        addEverywhere(row, row.undone_currency, { undoneEffects: 1, [direction]: { undone } });
      }
      if (row.status === 'resolved') {
        addEverywhere(row, row.currency, { byHandEffects: 1, [direction]: { byHand: amount } });
      }
      for (const one of ofSaga) addReconciliation(one);
    },
    addReconciliations: (all: readonly Reconciliation[]): void => {
      for (const one of all) addReconciliation(one);
    },
    addTotals: (totals: LedgerTotals): void => {
      for (const name of GROUPS) {
        for (const one of totals[name]) addTo(groups[name], one.key, one.currency, one);
      }
      for (const one of totals.reconciliations) addReconciliation(one);
    },
    end: (): LedgerTotals => {
      const all = [...reconciliations.values()].sort(
        (one, other) => compare(one.failedAt, other.failedAt) || compare(one.sagaId, other.sagaId),
      );
      return {
        all: sorted(groups.all),
        byTool: sorted(groups.byTool),
        byAgent: sorted(groups.byAgent),
        byDay: sorted(groups.byDay),
        byStatus: sorted(groups.byStatus),
        reconciliations: all,
        secondsToReconcile: meanOf(all),
      };
    },
  };
};
