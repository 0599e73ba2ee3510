/**
 * Sums of effect rows, exact and per currency. The sums of the parts of a long range can be joined with
 * `addTotals`. Pure.
 */
import type {
  LedgerEffect,
  LedgerTotal,
  LedgerTotals,
  Reconciliation,
} from '../../../contract/ledger-answers.ts';
import { addDecimals, subtractDecimals } from '../model/money.ts';

type Group = Map<string, LedgerTotal>;

const keyOf = (key: string | null, currency: string | null): string => JSON.stringify([key, currency]);

const addTo = (
  group: Group,
  key: string | null,
  currency: string | null,
  more: Partial<LedgerTotal>,
): void => {
  const at = keyOf(key, currency);
  const before = group.get(at) ?? {
    key,
    currency,
    effects: 0,
    amount: '0',
    undoneEffects: 0,
    undone: '0',
    net: '0',
    byHandEffects: 0,
    byHandAmount: '0',
  };
  const amount = addDecimals(before.amount, more.amount ?? '0');
  const undone = addDecimals(before.undone, more.undone ?? '0');
  group.set(at, {
    key,
    currency,
    effects: before.effects + (more.effects ?? 0),
    amount,
    undoneEffects: before.undoneEffects + (more.undoneEffects ?? 0),
    undone,
    net: subtractDecimals(amount, undone),
    // Functions of older releases do not count these.
    byHandEffects: before.byHandEffects + (more.byHandEffects ?? 0),
    byHandAmount: addDecimals(before.byHandAmount, more.byHandAmount ?? '0'),
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

export const createTotals = () => {
  const groups = { all: new Map(), byTool: new Map(), byAgent: new Map(), byDay: new Map() } satisfies Record<
    string,
    Group
  >;
  // A saga may have effects in several parts, but counts once.
  const reconciliations = new Map<string, Reconciliation>();
  const addReconciliation = (one: Reconciliation): void =>
    void reconciliations.set(JSON.stringify([one.sagaId, one.failedAt]), one);

  const addEverywhere = (row: LedgerEffect, currency: string | null, more: Partial<LedgerTotal>): void => {
    addTo(groups.all, null, currency, more);
    addTo(groups.byTool, row.tool, currency, more);
    addTo(groups.byAgent, row.agent, currency, more);
    addTo(groups.byDay, row.committed_at.slice(0, 10), currency, more);
  };

  return {
    add: (row: LedgerEffect, ofSaga: readonly Reconciliation[]): void => {
      addEverywhere(row, row.currency, { effects: 1, amount: row.amount ?? '0' });
      if (row.status === 'undone') {
        addEverywhere(row, row.undone_currency, { undoneEffects: 1, undone: row.undone_amount ?? '0' });
      }
      if (row.status === 'resolved') {
        addEverywhere(row, row.currency, { byHandEffects: 1, byHandAmount: row.amount ?? '0' });
      }
      for (const one of ofSaga) addReconciliation(one);
    },
    addReconciliations: (all: readonly Reconciliation[]): void => {
      for (const one of all) addReconciliation(one);
    },
    addTotals: (totals: LedgerTotals): void => {
      for (const name of ['all', 'byTool', 'byAgent', 'byDay'] as const) {
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
        reconciliations: all,
        secondsToReconcile: meanOf(all),
      };
    },
  };
};
