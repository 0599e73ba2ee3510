/**
 * Finds what operators asked of a step before. The same request again changes nothing, and a different one is
 * not taken for it.
 */
import type { Asked } from '../../../contract/identity.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { readLedger, type ToldEntry } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';

type Reads = Pick<SagaStore, 'pageEntries'>;
type Request = Asked<OperateSagaInput>;
type Decided = LedgerEntry & { direction: 'operator'; status: 'resolved' | 'skipped' };

export const attemptKey = (step: number, epoch: number): string => `${step}@${epoch}`;

/** The effects that a request is about, by their places. */
export interface DecisionScope {
  named: ReadonlySet<string> | undefined;
  nowMs: number;
  errors?: ReadonlyMap<string, string>;
}

const isMeant = ({ named, errors }: DecisionScope, place: string): boolean =>
  named?.has(place) !== false && errors?.has(place) !== false;

const isDecision = (entry: ToldEntry): entry is ToldEntry & Decided =>
  entry.direction === 'operator' && (entry.status === 'resolved' || entry.status === 'skipped');

/** What people decided about the effects of one step, oldest first. */
const decidedOf = (entries: readonly ToldEntry[], about: DecisionScope): Decided[] =>
  entries.filter(isDecision).filter(({ stepIndex, epoch }) => isMeant(about, attemptKey(stepIndex, epoch)));

/** Places with a retry that is still under way or has taken the effect back. */
const retriedPlaces = (entries: readonly ToldEntry[]): Set<string> => {
  const places = new Set<string>();
  for (const entry of entries) {
    if (entry.direction !== 'operator' && entry.direction !== 'undo') continue;
    const place = attemptKey(entry.stepIndex, entry.epoch);
    if (entry.status === 'retried') places.add(place);
    if (entry.status === 'failed' || entry.status === 'delayed' || entry.status === 'blocked')
      places.delete(place);
  }
  return places;
};

/** Delayed effects that are due by themselves, so that no retry is the reason why they are called now. */
export const dueUnasked = async (store: Reads, head: SagaHead, about: DecisionScope): Promise<number[]> => {
  const { state, sagaId, seq } = head;
  const due = state.effects.flatMap(({ step, epoch, status, undo }, index) =>
    status === 'undo_delayed' &&
    (undo?.untilMs ?? 0) <= about.nowMs &&
    state.operation?.effect !== index &&
    isMeant(about, attemptKey(step, epoch))
      ? [{ index, place: attemptKey(step, epoch) }]
      : [],
  );
  if (state.phase !== 'undo' || due.length === 0) return [];
  const retried = retriedPlaces(await readLedger(store, sagaId, seq));
  return due.flatMap(({ index, place }) => (retried.has(place) ? [] : [index]));
};

/** Whether a retry is recorded. When a rewind took a step back, only the step's latest effect counts. */
const wasRetried = async (store: Reads, head: SagaHead, about: DecisionScope): Promise<boolean> => {
  const { state, sagaId, seq } = head;
  const isStopped = state.status === 'COMPENSATION_FAILED';
  // What failed again since may be retried anew. What nothing takes back is never retried.
  if (isStopped && about.named === undefined) return false;
  const retried = retriedPlaces(await readLedger(store, sagaId, seq));
  const meant = state.effects.filter(({ step, epoch }) => isMeant(about, attemptKey(step, epoch)));
  const asked = about.named === undefined ? meant : meant.slice(-1);
  return asked.some(
    ({ step, epoch, status }) => retried.has(attemptKey(step, epoch)) && (!isStopped || status === 'undone'),
  );
};

/** Whether this same request is recorded already. */
export const wasAsked = async (
  store: Reads,
  head: SagaHead,
  request: Request,
  about: DecisionScope,
): Promise<boolean> => {
  const { action, evidence } = request;
  if (action === 'retry') return wasRetried(store, head, about);
  const status = action === 'resolve' ? 'resolved' : 'skipped';
  return decidedOf(await readLedger(store, head.sagaId, head.seq), about).some(
    (entry) => entry.status === status && entry.evidence === evidence,
  );
};

/**
 * Throws `OperationConflict` when a person resolved or skipped the step in another way, and says who and
 * when.
 */
export const requireUndecided = async (
  store: Reads,
  head: SagaHead,
  { action, stepId = '' }: Request,
  about: DecisionScope,
): Promise<void> => {
  if (action === 'retry') return;
  const decided = decidedOf(await readLedger(store, head.sagaId, head.seq), about).at(-1);
  if (decided === undefined) return;
  const { status, actor: by, at, evidence, epoch } = decided;
  throw new WalkbackError(
    'OperationConflict',
    `Step ${stepId} of saga ${head.sagaId} was ${status} by ${by} at ${at}, and that stands. This request was not recorded.`,
    { details: { sagaId: head.sagaId, stepId, epoch, status, by, at, evidence } },
  );
};
