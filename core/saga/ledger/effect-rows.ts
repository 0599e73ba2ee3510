/**
 * Every committed effect of a saga with its undo, in one row, from the saga's entries. Reads and steps that run other
 * sagas are no effects of their own. Pure.
 */
import type { LedgerEffect, Reconciliation } from '../../../contract/ledger-answers.ts';
import type { LedgerEntry, SagaError } from '../model/ledger-entry.ts';

type Entry<D extends LedgerEntry['direction']> = Extract<LedgerEntry, { direction: D }>;
type Started = Entry<'forward'> & { status: 'started' };

interface Open {
  started: Started;
  row?: LedgerEffect;
}

const placeOf = (entry: { stepIndex: number; epoch: number }): string => `${entry.stepIndex}@${entry.epoch}`;

const textOf = (error: SagaError | undefined): string | null =>
  error === undefined ? null : `${error.name}: ${error.message}`;

const NOT_UNDONE = {
  undone_at: null,
  undone_seq: null,
  undone_by: null,
  undone_ref: null,
  undone_amount: null,
  undone_currency: null,
  undone_problem: null,
  residue: null,
  failed_at: null,
  error: null,
  evidence: null,
};

type Committed = (Entry<'forward'> | Entry<'probe'>) & { status: 'committed' };

const committedRow = (entry: Committed, started: Started, agent: string): LedgerEffect => ({
  saga_id: entry.sagaId,
  step_index: entry.stepIndex,
  epoch: entry.epoch,
  step: entry.step,
  tool: entry.tool,
  version: entry.version,
  agent,
  resource_key: started.resourceKey ?? null,
  external_ref: entry.externalRef ?? null,
  status: 'stands',
  amount: entry.amount ?? null,
  currency: entry.currency ?? null,
  amount_problem: textOf(entry.amountProblem),
  committed_at: entry.at,
  committed_seq: entry.seq,
  ...NOT_UNDONE,
});

const undoneBy = ({ at, seq, actor }: LedgerEntry) => ({ undone_at: at, undone_seq: seq, undone_by: actor });

const afterUndo = (row: LedgerEffect, entry: Entry<'undo'>): LedgerEffect => {
  switch (entry.status) {
    case 'started':
      return { ...row, status: 'undoing' };
    case 'rejected':
    case 'unknown':
    case 'delayed':
      return { ...row, status: 'undoing', error: textOf(entry.error) };
    case 'failed':
    case 'blocked':
      return {
        ...row,
        status: 'undo_failed',
        error: textOf(entry.error),
        failed_at: row.failed_at ?? entry.at,
      };
    case 'committed':
      return {
        ...row,
        status: 'undone',
        ...undoneBy(entry),
        undone_ref: entry.externalRef ?? null,
        undone_amount: entry.amount ?? null,
        undone_currency: entry.currency ?? null,
        undone_problem: textOf(entry.amountProblem),
        residue: entry.residue ?? null,
      };
  }
};

const afterOperator = (row: LedgerEffect, entry: Entry<'operator'>): LedgerEffect => {
  const evidence = entry.evidence ?? row.evidence;
  return entry.status === 'retried'
    ? { ...row, status: 'undoing' }
    : { ...row, status: entry.status, ...undoneBy(entry), evidence };
};

/** Ends of the time in which people had to work the saga. */
const RECONCILED: readonly string[] = ['compensated', 'rewound', 'step_settled'];

const secondsBetween = (from: string, until: string): number =>
  Math.round((Date.parse(until) - Date.parse(from)) / 1000);

export interface SagaEffects {
  /** In the order in which they were committed. */
  rows: LedgerEffect[];
  /** One for each time that the saga could not be undone. */
  reconciliations: Reconciliation[];
}

/** Takes the entries of one saga as they are read, oldest first, and keeps only what rows need. */
export const createSagaEffects = () => {
  const open = new Map<string, Open>();
  const reconciliations: Reconciliation[] = [];
  let agent = '';

  const addSaga = (entry: Entry<'saga'>): void => {
    if (entry.status === 'started') agent = entry.actor;
    const last = reconciliations.at(-1);
    const isOpen = last !== undefined && last.reconciledAt === null;
    if (entry.status === 'compensation_failed' && !isOpen) {
      const { sagaId, at: failedAt } = entry;
      reconciliations.push({ sagaId, failedAt, reconciledAt: null, seconds: null });
    }
    if (isOpen && RECONCILED.includes(entry.status)) {
      last.reconciledAt = entry.at;
      last.seconds = secondsBetween(last.failedAt, entry.at);
    }
  };

  const addForward = (entry: Entry<'forward'> | Entry<'probe'>): void => {
    const place = placeOf(entry);
    if (entry.direction === 'forward' && entry.status === 'started') {
      // Later attempts do not repeat what the first one says.
      const isEffect = entry.effect !== 'read' && entry.children === undefined;
      if (isEffect && !open.has(place)) {
        const { arguments: _, ...started } = entry;
        open.set(place, { started });
      }
      return;
    }
    const effect = open.get(place);
    if (entry.status !== 'committed' || effect === undefined) return;
    effect.row = committedRow(entry, effect.started, agent);
  };

  const addLater = (entry: Entry<'undo'> | Entry<'operator'>): void => {
    const effect = open.get(placeOf(entry));
    if (effect?.row === undefined) return;
    effect.row = entry.direction === 'undo' ? afterUndo(effect.row, entry) : afterOperator(effect.row, entry);
  };

  return {
    add: (entry: LedgerEntry): void => {
      if (entry.direction === 'saga') addSaga(entry);
      if (entry.direction === 'forward' || entry.direction === 'probe') addForward(entry);
      if (entry.direction === 'undo' || entry.direction === 'operator') addLater(entry);
    },
    end: (): SagaEffects => ({
      rows: [...open.values()]
        .flatMap(({ row }) => (row === undefined ? [] : [row]))
        .sort((one, other) => one.committed_seq - other.committed_seq),
      reconciliations,
    }),
  };
};
