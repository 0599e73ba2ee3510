/**
 * The reducer: decides what an event means for a saga, and what to do next. Pure: it reads no clock and no
 * table, and changes nothing.
 *
 * It owns the order of things: the intent first (S1), how doubt is settled (S2) and when (S3), the undo order
 * (S5), what fails a saga (S6, S7), and that nothing counts twice (S9). `fold.ts` owns what an entry does to
 * the state.
 */

import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import {
  alertFacts,
  answerFacts,
  cancelFacts,
  expiredFacts,
  operateFacts,
  resumeFacts,
} from './decide-control.ts';
import { outputFacts, sealFacts, settledFacts, unwindFacts } from './decide-family.ts';
import { progressForward, startStep } from './decide-forward.ts';
import { closeFacts, leavesInline, parkFacts, submitFacts, unparkFacts } from './decide-interactive.ts';
import { outcomeFacts } from './decide-outcome.ts';
import { admitFacts, breakLockFacts, startLocks } from './decide-permits.ts';
import { rewindFacts, undoFacts } from './decide-rewind.ts';
import { progressUndo, startUndo } from './decide-undo.ts';
import { apply } from './fold.ts';
import type { Decision, SagaEvent, Step, Surroundings } from './saga-events.ts';

/**
 * Applies facts before they have their place in the ledger. This works because the state does not depend on
 * hashes.
 */
export const applyFacts = (
  state: SagaState,
  facts: readonly Fact[],
  place: { sagaId: string; seq: number; nowMs: number },
): SagaState => {
  const at = new Date(place.nowMs).toISOString();
  return facts.reduce((before, fact, position) => {
    const entry: LedgerEntry = {
      ...fact,
      sagaId: place.sagaId,
      seq: place.seq + position,
      at,
      actor: '',
      prevHash: '',
      hash: '',
    };
    return apply(before, entry);
  }, state);
};

const factsOf = (state: SagaState, event: SagaEvent, around: Surroundings): Fact[] => {
  switch (event.type) {
    case 'outcome':
      return outcomeFacts(state, event, around);
    case 'answer':
      return answerFacts(state, event, around);
    case 'expire':
      return expiredFacts(state, around);
    case 'cancel':
      return cancelFacts(state, event);
    case 'undo':
      return undoFacts(state, event);
    case 'rewind':
      return rewindFacts(state, event);
    case 'resume':
      return resumeFacts(state, event);
    case 'submit':
      return submitFacts(state, event);
    case 'close':
      return closeFacts(state, event);
    case 'park':
      return parkFacts(state, event);
    case 'unpark':
      return unparkFacts(state);
    case 'operate':
      return operateFacts(state, event, around);
    case 'alert':
      return alertFacts(state, event);
    case 'prepared':
    case 'unprepared':
      return startStep(state, event, around);
    case 'locks-prepared':
      return startLocks(state, event, around);
    case 'undo-prepared':
      return startUndo(state, event, around);
    case 'admit':
      return admitFacts(state, event);
    case 'break-lock':
      return breakLockFacts(event);
    case 'unwind':
      return unwindFacts(state, event);
    case 'seal':
      return sealFacts(state, event);
    case 'child-settled':
      return settledFacts(state, event, around);
    case 'output-prepared':
    case 'output-unprepared':
      return outputFacts(state, event);
    case 'children-seen':
    case 'begin':
    case 'continue':
      return [];
  }
};

const OUTSIDE: readonly SagaEvent['type'][] = [
  'answer',
  'expire',
  'cancel',
  'close',
  'park',
  'unpark',
  'undo',
  'rewind',
  'resume',
  'operate',
  'unwind',
  'seal',
  'child-settled',
  'admit',
  'break-lock',
];

/**
 * Commands of people, the sweeper and other sagas are only recorded. The execution that drives the saga acts on them.
 */
const isFromOutside = ({ type }: SagaEvent): boolean => OUTSIDE.includes(type);

const progress = (state: SagaState, around: Surroundings): Step => {
  if (state.phase === 'done') {
    return {
      next:
        state.status === 'COMPENSATION_FAILED' ? { next: 'escalate' } : { next: 'end', status: state.status },
    };
  }
  if (around.inline === true && leavesInline(state)) return { next: { next: 'hand-over' } };
  if (state.pauseUntilMs !== null && around.nowMs < state.pauseUntilMs) {
    return { next: { next: 'pause', untilMs: state.pauseUntilMs } };
  }
  return state.phase === 'undo' ? progressUndo(state, around) : progressForward(state, around);
};

/**
 * `children-seen` is valid only for the wait that it was prepared for. A prepared event brings its own step,
 * which may be in flight when this decision ends.
 */
const surroundings = (event: SagaEvent, given: Surroundings): Surroundings => {
  switch (event.type) {
    case 'prepared':
      return { ...given, currentStep: given.currentStep ?? event.step, hasLooked: true };
    case 'locks-prepared':
      return { ...given, hasLooked: true };
    case 'undo-prepared':
      return { ...given, currentStep: given.currentStep ?? event.step };
    case 'children-seen':
      return { ...given, children: event.children };
    default:
      return given;
  }
};

/**
 * The most facts of one decision, and of all decisions of one move. The rest comes with the next event.
 * This keeps a transaction far below its limit of 100 items.
 */
export const MAX_FACTS = 40;

/**
 * Decides what `event` means in `state`. The caller appends and applies all facts together, or none. An
 * event that is not new (answered already, or of an older attempt) makes no facts; `next` then gives the
 * present state of things.
 */
export const decide = (state: SagaState, event: SagaEvent, given: Surroundings, seq: number): Decision => {
  const around = surroundings(event, given);
  const facts = factsOf(state, event, around);
  const place = { sagaId: around.sagaId, nowMs: around.nowMs };
  if (isFromOutside(event)) return { facts, next: { next: 'none' } };
  let current = applyFacts(state, facts, { ...place, seq });
  for (;;) {
    const step = progress(current, around);
    if ('next' in step) return { facts, next: step.next };
    current = applyFacts(current, step.facts, { ...place, seq: seq + facts.length });
    facts.push(...step.facts);
    if (facts.length >= MAX_FACTS) return { facts, next: { next: 'pause', untilMs: around.nowMs } };
  }
};
