/**
 * Steps that run children: waits until all of them have ended, and decides what that means for the step.
 * Undoing such a step unwinds its children, also completed ones. Pure: the event `children-seen` brings what
 * became of each child.
 */
import type { ChildEnd, ChildrenWait, PinnedChildrenStep } from '../model/children.ts';
import type { Fact, SagaError } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import { MAX_WAIT_SECONDS } from '../model/timing.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import { type ChildLetter, letterOf } from './child-letters.ts';
import { childrenResult } from './children-result.ts';
import { unwinding } from './decide-interactive.ts';
import { attemptFact, stepFact } from './facts.ts';
import { shareMark } from './resource-marks.ts';
import type { SeenChild, Step, Surroundings } from './saga-events.ts';
import { turningFact } from './turning.ts';

interface WaitingStep {
  state: SagaState;
  wait: ChildrenWait;
  step: PinnedChildrenStep;
  seen: readonly SeenChild[];
  /** The state of each child as a letter. A completed child that was told to unwind counts as not ended. */
  letters: ChildLetter[];
  around: Surroundings;
}

const epochOf = ({ state, wait }: Pick<WaitingStep, 'state' | 'wait'>): number =>
  state.effects[wait.effect]?.epoch ?? state.epoch;

const isTold = (wait: ChildrenWait, at: number): boolean => wait.told[at] === 'x';

const places = (letters: readonly ChildLetter[], wanted: (letter: ChildLetter, at: number) => boolean) =>
  letters.flatMap((letter, at) => (wanted(letter, at) ? [at] : []));

export const childEnd = (index: number, child: SeenChild): ChildEnd | undefined => {
  const { branch, sagaId, status, seq, tip, error, resources } = child;
  if (status === null || letterOf(status) === '-') return undefined;
  return {
    index,
    branch,
    sagaId,
    status,
    seq,
    tip,
    ...(error === undefined ? {} : { error }),
    ...(resources === undefined || Object.keys(resources).length === 0 ? {} : { resources }),
  };
};

/**
 * Children that ended and are not recorded yet. On the way back, a completed child must still be unwound, so
 * it does not count as ended.
 */
const endedFacts = ({ state, wait, step, seen, letters }: WaitingStep): Fact[] =>
  letters.flatMap((letter, at): Fact[] => {
    const child = seen[at];
    if (letter === '-' || letter === wait.ended[at] || child === undefined) return [];
    if (wait.direction === 'undo' && letter === 'c') return [];
    const end = childEnd(at, child);
    return end === undefined
      ? []
      : [{ direction: 'child', status: 'ended', ...stepFact(step, epochOf({ state, wait })), child: end }];
  });

const shares = (one: SeenChild | undefined, other: SeenChild | undefined): boolean =>
  shareMark(one?.resources ?? {}, other?.resources ?? {});

const lastStartMs = (child: SeenChild | undefined): number =>
  Object.values(child?.resources ?? {}).reduce((last, time) => Math.max(last, time), 0);

/** Of two siblings that share a resource key, the one whose last effect began later is undone first. */
const isLater = (seen: readonly SeenChild[], one: number, other: number): boolean => {
  const [mine, theirs] = [lastStartMs(seen[one]), lastStartMs(seen[other])];
  return mine === theirs ? one > other : mine > theirs;
};

const tell = ({ state, wait, step }: WaitingStep, children: number[], reason: string): Step => ({
  facts: [
    {
      direction: 'child',
      status: 'unwinding',
      ...stepFact(step, epochOf({ state, wait })),
      children,
      reason,
    },
  ],
});

const awaiting = ({ wait, around }: WaitingStep): Step => ({
  next: {
    next: 'await',
    step: wait.step,
    untilMs:
      wait.overdue === true || wait.deadlineMs === undefined
        ? around.nowMs + MAX_WAIT_SECONDS * 1000
        : wait.deadlineMs,
  },
});

/**
 * Completed siblings that must go because they share a resource key with a child that does not stand. A
 * sibling that goes for this reason takes along those that share a key with it.
 */
const sharing = ({ wait, seen, letters }: WaitingStep): number[] => {
  const going = new Set(
    places(letters, (letter, at) => letter !== 'c' && (letter !== '-' || isTold(wait, at))),
  );
  const joined: number[] = [];
  for (let grown = true; grown; ) {
    grown = false;
    for (const at of places(letters, (letter) => letter === 'c')) {
      if (going.has(at) || ![...going].some((other) => shares(seen[at], seen[other]))) continue;
      going.add(at);
      joined.push(at);
      grown = true;
    }
  }
  return joined;
};

const failureOf = ({ step, wait, seen, letters }: WaitingStep): SagaError => {
  if (wait.overdue === true) {
    return { name: 'ChildrenOverdue', message: `The children of step ${step.id} did not end in time.` };
  }
  const at = letters.findIndex((letter) => letter === 'f');
  const child = seen[at === -1 ? letters.findIndex((letter) => letter === 'u' || letter === 'r') : at];
  const cause = child?.error === undefined ? '' : ` (${child.error.name}: ${child.error.message})`;
  return child?.status === 'COMPENSATION_FAILED'
    ? {
        name: 'ChildFailed',
        message: `Child ${child.sagaId} failed and could not be undone completely${cause}.`,
      }
    : { name: 'ChildUndone', message: `Child ${child?.sagaId ?? '?'} failed and was undone${cause}.` };
};

const committed = (place: WaitingStep): Step => {
  const { state, wait, step, around } = place;
  const attempt = attemptFact(around.sagaId, step, epochOf({ state, wait }), 'forward', 1);
  const result = childrenResult(step, place.seen);
  if (result !== undefined) {
    return { facts: [{ direction: 'forward', status: 'committed', ...attempt, result }] };
  }
  const message = `The outputs of the children of step ${step.id} take more than ${MAX_RESULT_BYTES} bytes.`;
  const error = { name: 'ResultTooLarge', message };
  return {
    facts: [
      { direction: 'forward', status: 'committed', ...attempt, result: null, error },
      unwinding(step, error, 'rejected'),
    ],
  };
};

/** The step fails. When some of its effects may stand, it is undone like any other effect. */
const failed = (place: WaitingStep): Step => {
  const { state, wait, step, letters, around } = place;
  const error = failureOf(place);
  const turn = turningFact(state) ?? unwinding(step, error, 'rejected');
  if (letters.some((letter) => letter === 'c' || letter === 'f')) return { facts: [turn] };
  const attempt = attemptFact(around.sagaId, step, epochOf({ state, wait }), 'forward', 1);
  return { facts: [{ direction: 'forward', status: 'rejected', ...attempt, error, final: true }, turn] };
};

const progressForwardChildren = (place: WaitingStep): Step => {
  const { state, wait, step, letters, around } = place;
  const isOverdue = wait.deadlineMs !== undefined && around.nowMs >= wait.deadlineMs;
  const going = places(letters, (letter) => letter === '-');
  if (isOverdue && wait.overdue !== true && going.length > 0) {
    return {
      facts: [{ direction: 'child', status: 'overdue', ...stepFact(step, epochOf({ state, wait })) }],
    };
  }
  const turn = turningFact(state);
  const stops = turn !== undefined || wait.overdue === true;
  const isFailing = letters.some((letter) => letter !== 'c' && letter !== '-');
  const all = step.onBranchFailure === 'all';
  const fatal = stops || letters.includes('f') || (isFailing && all);
  const untold = going.filter((at) => !isTold(wait, at));
  if (fatal && untold.length > 0) {
    const reason = turn?.failure.error.name ?? (wait.overdue === true ? 'overdue' : 'a sibling failed');
    return tell(place, untold, reason);
  }
  if (!fatal && isFailing && step.onBranchFailure === 'sharing') {
    const joined = sharing(place);
    if (joined.length > 0) return tell(place, joined, 'a sibling failed that touched the same resource');
  }
  if (going.length > 0) return awaiting(place);
  if (!isFailing && !stops) return committed(place);
  const isKept = letters.includes('c') || step.onBranchFailure === 'report';
  return fatal || !isKept ? failed(place) : committed(place);
};

/**
 * Completed children that may be unwound now: no sibling that acted later on one of their resource keys
 * stands.
 */
const undoable = ({ seen, letters }: WaitingStep): number[] =>
  places(letters, (letter, at) => {
    if (letter !== 'c') return false;
    const stand = places(
      letters,
      (other, place) => place !== at && (other === 'c' || other === '-' || other === 'f'),
    );
    return !stand.some((other) => shares(seen[at], seen[other]) && isLater(seen, other, at));
  });

const progressUndoChildren = (place: WaitingStep): Step => {
  const { state, wait, step, seen, letters, around } = place;
  const going = places(letters, (letter) => letter === '-');
  const next = [...going.filter((at) => !isTold(wait, at)), ...undoable(place)];
  if (next.length > 0) return tell(place, next, 'the step is undone');
  if (going.length > 0) return awaiting(place);
  const epoch = epochOf({ state, wait });
  if (letters.every((letter) => letter === 'u' || letter === 'r')) {
    const attempt = attemptFact(around.sagaId, step, epoch, 'undo', 1);
    return { facts: [{ direction: 'undo', status: 'committed', ...attempt }] };
  }
  const stands = places(letters, (letter) => letter === 'f' || letter === 'c').map(
    (at) => seen[at]?.sagaId ?? '?',
  );
  const message = `Not undone: ${stands.slice(0, 5).join(', ')}${stands.length > 5 ? ` and ${stands.length - 5} more` : ''}.`;
  const error = { name: 'ChildFailed', message };
  return { facts: [{ direction: 'undo', status: 'failed', ...stepFact(step, epoch), error }] };
};

/** Decides how a saga that waits for its children goes on. */
export const progressChildren = (state: SagaState, wait: ChildrenWait, around: Surroundings): Step => {
  const { children: seen, currentStep: step } = around;
  if (seen === undefined) return { next: { next: 'prepare-children' } };
  if (step?.kind !== 'children') throw new RangeError('the pinned step of the children is missing');
  const letters = seen.map(({ status }, at) =>
    isTold(wait, at) && status === 'COMPLETED' ? '-' : letterOf(status),
  );
  const place = { state, wait, step, seen, letters, around };
  const facts = endedFacts(place);
  if (facts.length > 0) return { facts };
  return wait.direction === 'forward' ? progressForwardChildren(place) : progressUndoChildren(place);
};

/** Begins to unwind the children of a step. */
export const undoChildren = (
  state: SagaState,
  effect: number,
  step: PinnedChildrenStep,
  children: number,
  around: Surroundings,
): Fact[] => {
  const epoch = state.effects[effect]?.epoch ?? state.epoch;
  const attempt = attemptFact(around.sagaId, step, epoch, 'undo', 1);
  return [{ direction: 'undo', status: 'started', ...attempt, deadlineMs: 0, children }];
};
