/** Answers what became of a submitted step, from the state and the step's entries. */
import type { StepAnswer } from '../../../contract/saga-answers.ts';
import { isInRange } from '../decide/effects.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { approvalStep, type EffectStatus, type SagaState } from '../model/state.ts';
import type { SubmittedStep } from '../model/submitted-step.ts';
import type { SagaStore } from '../ports.ts';

type Status = StepAnswer['status'];

/** How a step ended, by the status of its effect, once nothing about it is in flight. */
const SETTLED: Record<EffectStatus, Status> = {
  started: 'running',
  committed: 'committed',
  rejected: 'rejected',
  unknown: 'running',
  undone: 'undone',
  undo_delayed: 'running',
  undo_failed: 'failed',
  blocked: 'failed',
  resolved: 'undone',
  skipped: 'failed',
};

export const stepStatus = (state: SagaState, index: number): Status => {
  const at = state.effects.findLastIndex(({ step }) => step === index);
  const effect = state.effects[at];
  if (effect === undefined) {
    if (state.cursor > index || state.phase !== 'forward') return 'rejected';
    return approvalStep(state.wait) === index ? 'awaiting' : 'running';
  }
  if (state.phase === 'undo' && isInRange(state, at) && effect.status !== 'undone') {
    return effect.status === 'rejected' ? 'rejected' : 'running';
  }
  // A read leaves nothing behind. Any other effect that may have happened and that nothing takes back is for
  // a person.
  if (effect.status === 'unknown') return effect.kind === 'read' ? 'rejected' : 'failed';
  return SETTLED[effect.status];
};

/** Nothing more happens to the step by itself. */
export const isSettled = (status: Status): boolean => status !== 'running';

const PAGE = 50;

const isOf = (entry: LedgerEntry, index: number): boolean => 'step' in entry && entry.stepIndex === index;

/** Reads from the step's `submitted` entry to where the next step begins. */
const entriesOf = async (store: SagaStore, head: SagaHead, { seq, index }: SubmittedStep) => {
  const mine: LedgerEntry[] = [];
  let from: number | undefined = seq;
  while (from !== undefined && from < head.seq) {
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(head.sagaId, from, PAGE);
    for (const entry of page.items) {
      if (entry.direction === 'step' && entry.status === 'submitted' && entry.stepIndex > index) return mine;
      if (isOf(entry, index)) mine.push(entry);
    }
    from = page.next;
  }
  return mine;
};

export const stepAnswer = async (
  store: SagaStore,
  head: SagaHead,
  submitted: SubmittedStep,
): Promise<StepAnswer> => {
  const status = stepStatus(head.state, submitted.index);
  const entries = await entriesOf(store, head, submitted);
  const committed = entries.findLast((entry) => entry.status === 'committed' && 'result' in entry);
  const failed = entries.findLast((entry) => 'error' in entry && entry.error !== undefined);
  const answer: StepAnswer = { stepId: submitted.stepId, status };
  if (committed !== undefined && 'result' in committed && committed.error === undefined) {
    answer.result = committed.result;
  }
  if (committed !== undefined && 'externalRef' in committed) answer.externalRef = committed.externalRef;
  if (committed !== undefined && 'externalUrl' in committed) answer.externalUrl = committed.externalUrl;
  if (status !== 'committed' && failed !== undefined && 'error' in failed) answer.error = failed.error;
  return answer;
};
