/**
 * Makes one row for every effect of a saga, together with its undo, from the saga's entries: effects that
 * were committed, and effects in doubt that were not settled forward. Reads and steps that run other sagas
 * are no effects of their own. Pure.
 */
import { proofOf } from '../../../contract/identity.ts';
import type { LedgerEffect, Reconciliation } from '../../../contract/ledger-answers.ts';
import { type Acceptance, acceptanceKey, createAcceptances, reasonIn } from '../entries/acceptances.ts';
import type { LedgerEntry, SagaError } from '../model/ledger-entry.ts';

type Entry<D extends LedgerEntry['direction']> = Extract<LedgerEntry, { direction: D }>;
type Started = Entry<'forward'> & { status: 'started' };

/** Where in the ledger a row comes from. */
interface EffectTrace {
  committedHash: string;
  /** Hash of the entry that says when it was undone, resolved, skipped or accepted. */
  undoneHash: string | null;
  /** Number of the last entry that the row is made of. Other entries change nothing in the row. */
  lastSeq: number;
}

interface CommittedEffect {
  row: LedgerEffect;
  trace: EffectTrace;
}

interface Open {
  started: Started;
  /**
   * Set when the call may have taken effect. An effect that once had a row keeps it: rows that were answered
   * never disappear.
   */
  doubt?: Doubt;
  committed?: CommittedEffect;
}

const textOf = (error: SagaError | undefined): string | null =>
  error === undefined ? null : `${error.name}: ${error.message}`;

const NOT_UNDONE = {
  undone_at: null,
  undone_seq: null,
  undone_by: null,
  undone_by_proof: null,
  undone_ref: null,
  undone_amount: null,
  undone_currency: null,
  undone_problem: null,
  residue: null,
  failed_at: null,
  error: null,
  evidence: null,
};

type Commit = (Entry<'forward'> | Entry<'probe'>) & { status: 'committed' };
type Doubt = Entry<'forward'> & { status: 'unknown' };

const rowOf = (
  entry: Commit | Doubt,
  started: Started,
  agent: string,
): Omit<
  LedgerEffect,
  'status' | 'amount' | 'currency' | 'amount_direction' | 'amount_problem' | 'doubt' | 'external_url'
> => ({
  saga_id: entry.sagaId,
  step_index: entry.stepIndex,
  epoch: entry.epoch,
  step: entry.step,
  tool: entry.tool,
  version: entry.version,
  agent,
  resource_key: started.resourceKey ?? null,
  external_ref: entry.externalRef ?? null,
  committed_at: entry.at,
  committed_seq: entry.seq,
  ...NOT_UNDONE,
});

const committedRow = (entry: Commit, started: Started, agent: string): LedgerEffect => ({
  ...rowOf(entry, started, agent),
  status: 'stands',
  amount: entry.amount ?? null,
  currency: entry.currency ?? null,
  amount_direction: entry.amountDirection ?? null,
  amount_problem: textOf(entry.amountProblem),
  doubt: null,
  external_url: entry.externalUrl ?? null,
});

const doubtfulRow = (entry: Doubt, started: Started, agent: string): LedgerEffect => ({
  ...rowOf(entry, started, agent),
  status: 'in_doubt',
  amount: null,
  currency: null,
  amount_direction: null,
  amount_problem: null,
  doubt: textOf(entry.error),
  external_url: null,
});

const undoneBy = ({ at, seq, actor, person }: LedgerEntry) => ({
  undone_at: at,
  undone_seq: seq,
  undone_by: actor,
  undone_by_proof: proofOf(actor, person),
});

const undoneAmount = (entry: Entry<'undo'> & { status: 'committed' }) => ({
  undone_amount: entry.amount ?? null,
  undone_currency: entry.currency ?? null,
  undone_problem: textOf(entry.amountProblem),
});

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
        // An effect in doubt counts in no sum, so what was taken back of it does not count either.
        ...(row.doubt === null ? undoneAmount(entry) : {}),
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

const afterAcceptance = (row: LedgerEffect, request: Acceptance['request']): LedgerEffect => ({
  ...row,
  status: 'accepted',
  ...undoneBy(request),
  evidence: reasonIn(request),
});

/** Entries that end the time in which people had to work on the saga. */
const RECONCILED: readonly string[] = ['compensated', 'rewound', 'step_settled'];
/** Entries that end the way back. What is in doubt then stays in doubt. */
const WAYS_END: readonly string[] = [...RECONCILED, 'compensation_failed'];

const secondsBetween = (from: string, until: string): number =>
  Math.round((Date.parse(until) - Date.parse(from)) / 1000);

export interface SagaEffects {
  /** Who started the saga, or the saga above it. */
  agent: string;
  /** In the order in which they were committed or left in doubt. */
  committed: CommittedEffect[];
  /**
   * One for each time that the saga could not be undone, with the number of the last entry that it is made
   * of.
   */
  failures: { reconciliation: Reconciliation; lastSeq: number }[];
  /**
   * The sagas that it runs as steps, each with the number of the entry that names it. Their effects are in
   * their own ledgers.
   */
  children: { sagaId: string; startSeq: number }[];
}

/** Takes the entries of one saga as they are read, oldest first, and keeps only what rows need. */
export const createSagaEffects = () => {
  const open = new Map<string, Open>();
  const failures: SagaEffects['failures'] = [];
  const children: SagaEffects['children'] = [];
  const acceptances = createAcceptances();
  let agent = '';
  let lastEntry: LedgerEntry | undefined;

  /** Gives an effect in doubt its row. */
  const surface = (effect: Open, { seq }: LedgerEntry): void => {
    if (effect.committed !== undefined || effect.doubt === undefined) return;
    effect.committed = {
      row: doubtfulRow(effect.doubt, effect.started, agent),
      trace: { committedHash: effect.doubt.hash, undoneHash: null, lastSeq: seq },
    };
  };

  const addSaga = (entry: Entry<'saga'>): void => {
    if (entry.status === 'started') agent = entry.actor;
    if (WAYS_END.includes(entry.status)) for (const effect of open.values()) surface(effect, entry);
    const last = failures.at(-1);
    const isOpen = last !== undefined && last.reconciliation.reconciledAt === null;
    if (entry.status === 'compensation_failed' && !isOpen) {
      const { sagaId, at: failedAt } = entry;
      const reconciliation = { sagaId, failedAt, reconciledAt: null, seconds: null };
      failures.push({ reconciliation, lastSeq: entry.seq });
    }
    if (isOpen && RECONCILED.includes(entry.status)) {
      const { reconciliation } = last;
      reconciliation.reconciledAt = entry.at;
      reconciliation.seconds = secondsBetween(reconciliation.failedAt, entry.at);
      last.lastSeq = entry.seq;
    }
  };

  /** `entry`: the one from which on the request holds. */
  const accept = ({ places, request }: Acceptance, entry: LedgerEntry): void => {
    for (const place of places) {
      const effect = open.get(place);
      // A step that runs other sagas is no effect of its own.
      if (effect === undefined) continue;
      surface(effect, entry);
      if (effect.committed === undefined) continue;
      const { row, trace } = effect.committed;
      effect.committed = {
        row: afterAcceptance(row, request),
        trace: { ...trace, undoneHash: request.hash, lastSeq: entry.seq },
      };
    }
  };

  const addForward = (entry: Entry<'forward'> | Entry<'probe'>): void => {
    const place = acceptanceKey(entry);
    if (entry.direction === 'forward' && entry.status === 'started') {
      // Later attempts do not repeat what the first one says.
      for (const { sagaId } of entry.children ?? []) children.push({ sagaId, startSeq: entry.seq });
      const isEffect = entry.effect !== 'read' && entry.children === undefined;
      if (isEffect && !open.has(place)) {
        const { arguments: _, ...started } = entry;
        open.set(place, { started });
      }
      return;
    }
    const effect = open.get(place);
    if (effect === undefined) return;
    if (entry.direction === 'forward' && entry.status === 'unknown') effect.doubt ??= entry;
    // The same rule as in the state: an irreversible effect that a probe denied did not happen.
    if (entry.status === 'absent' && effect.started.effect === 'irreversible') delete effect.doubt;
    if (entry.status !== 'committed') return;
    effect.committed = {
      row: committedRow(entry, effect.started, agent),
      trace: { committedHash: entry.hash, undoneHash: null, lastSeq: entry.seq },
    };
  };

  const addLater = (entry: Entry<'undo'> | Entry<'operator'>): void => {
    const effect = open.get(acceptanceKey(entry));
    if (effect === undefined) return;
    // From here on it is not settled forward any more. That it is taken back by its key, without an error,
    // does not say that it never happened.
    surface(effect, entry);
    if (effect.committed === undefined) return;
    const { row: before, trace } = effect.committed;
    const row = entry.direction === 'undo' ? afterUndo(before, entry) : afterOperator(before, entry);
    const undoneHash = row.undone_seq === entry.seq ? entry.hash : trace.undoneHash;
    effect.committed = { row, trace: { ...trace, undoneHash, lastSeq: entry.seq } };
  };

  return {
    add: (entry: LedgerEntry): void => {
      lastEntry = entry;
      for (const acceptance of acceptances.add(entry)) accept(acceptance, entry);
      if (entry.direction === 'saga') addSaga(entry);
      if (entry.direction === 'forward' || entry.direction === 'probe') addForward(entry);
      if (entry.direction === 'undo' || entry.direction === 'operator') addLater(entry);
    },
    /** `asOf`: of an earlier time. What was not settled then was in doubt, however soon it was settled. */
    end: ({ asOf = false }: { asOf?: boolean } = {}): SagaEffects => {
      const last = asOf ? lastEntry : undefined;
      if (last !== undefined) for (const effect of open.values()) surface(effect, last);
      return {
        agent,
        committed: [...open.values()]
          .flatMap((one) => one.committed ?? [])
          .sort((one, other) => one.row.committed_seq - other.row.committed_seq),
        failures,
        children,
      };
    },
  };
};
