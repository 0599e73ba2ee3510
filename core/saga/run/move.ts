/**
 * One move of a saga: reads the head, decides, writes entries and head in one transaction, and answers the
 * next action. It owns the writing (S1, S9). It keeps nothing between two calls.
 */
import type { Actor } from '../../../contract/identity.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { pauseAfterRace, RACE } from '../../shared/retry.ts';
import { applyFacts, decide, MAX_FACTS } from '../decide/decide.ts';
import type { Decision, Next, SagaEvent } from '../decide/saga-events.ts';
import { chain } from '../entries/hash-chain.ts';
import { isSameTurn, type SagaHead } from '../model/head.ts';
import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';
import type { PinnedStep } from '../model/plan.ts';
import { approvalStep, type SagaState } from '../model/state.ts';
import { ENGINE_SLACK_SECONDS } from '../model/timing.ts';
import { claimsOf } from '../permits/claims.ts';
import type { AdvanceDependencies, Beside } from '../ports.ts';
import { BYSTANDER, type Driver, isForCaller } from '../prepare/driver.ts';
import { type Reading, readingOf } from '../prepare/reading.ts';
import { notStorable, withoutIt } from './unstorable.ts';

/** A history holds 25,000 events. From this number on, the saga continues in a new execution. */
export const MAX_HISTORY_EVENTS = 20_000;

/** Events of one round: Advance 5, Route 2, Invoke 5, and some for retries. */
export const EVENTS_PER_ROUND = 13;

export interface Move {
  head: SagaHead;
  entries: LedgerEntry[];
  next: Next | Continued;
}

/** The saga goes on in a new execution. */
interface Continued {
  next: 'continued';
  reason: string;
}

/** For a function that drives a saga: its calls must be over by then. */
export interface Inline {
  untilMs: number;
}

/** The pinned step that is in flight or waited for. */
const currentStep = async (reading: Reading, state: SagaState): Promise<PinnedStep | undefined> => {
  const { operation, wait } = state;
  const index = operation === null && wait?.kind === 'children' ? wait.effect : operation?.effect;
  const effect = index === undefined ? undefined : state.effects[index];
  if (effect !== undefined) return reading.step(effect.step, state, effect.epoch);
  const waiting = approvalStep(wait);
  return waiting === undefined ? undefined : reading.step(waiting, state);
};

const stepsOf = async (reading: Reading, event: SagaEvent) => {
  const effects =
    event.type === 'operate' ? event.effects : event.type === 'child-settled' ? [event.effect] : [];
  if (effects.length === 0) return {};
  const effectSteps = new Map<number, PinnedStep>();
  for (const index of effects) {
    const effect = reading.head.state.effects[index];
    if (effect !== undefined) {
      effectSteps.set(index, await reading.step(effect.step, reading.head.state, effect.epoch));
    }
  }
  return { effectSteps };
};

/** When the answer of a call that begins now has arrived or is lost. */
const endOfCall = (step: PinnedStep, nowMs: number): number =>
  nowMs + ((step.timeoutSeconds ?? 0) + ENGINE_SLACK_SECONDS) * 1000;

/**
 * Runs `decide` until it has an action for the engine, and prepares the data that it asks for. Nothing is
 * written.
 */
const converse = async (
  reading: Reading,
  event: SagaEvent,
  nowMs: number,
  { mayStart, inline, prepare, price }: { mayStart: boolean; inline?: Inline } & Driver,
): Promise<{ facts: Fact[]; state: SagaState; next: Move['next'] }> => {
  const { head } = reading;
  const facts: Fact[] = [];
  let { state } = head;
  let told = event;
  for (;;) {
    const step = await currentStep(reading, state);
    if (told.type === 'outcome' && step !== undefined) told = await price(reading, state, step, told);
    const around = {
      sagaId: head.sagaId,
      nowMs,
      ...(step === undefined ? {} : { currentStep: step }),
      ...(await stepsOf(reading, told)),
      ...(inline === undefined ? {} : { inline: true as const }),
    };
    const decision: Decision = decide(state, told, around, head.seq + facts.length);
    state = applyFacts(state, decision.facts, { sagaId: head.sagaId, seq: head.seq + facts.length, nowMs });
    facts.push(...decision.facts);
    const { next } = decision;
    if (next.next === 'hand-over') {
      return { facts, state, next: { next: 'continued', reason: 'one call did not settle it' } };
    }
    if (!isForCaller(next)) return { facts, state, next };
    if (!mayStart) return { facts, state, next: { next: 'continued', reason: 'history' } };
    if (facts.length >= MAX_FACTS) return { facts, state, next: { next: 'pause', untilMs: nowMs } };
    told = await prepare(reading, state, facts, next);
    if (told.type === 'prepared' && inline !== undefined && endOfCall(told.step, nowMs) > inline.untilMs) {
      return { facts, state, next: { next: 'continued', reason: 'its call may take longer' } };
    }
  }
};

type Asked = SagaEvent | undefined;

/** A submitted step is stored together with its entry. Its session then lists the saga. */
const besideOf = (event: SagaEvent, head: SagaHead, entries: readonly LedgerEntry[]): Beside | undefined => {
  const entry = entries.find(({ direction, status }) => direction === 'step' && status === 'submitted');
  if (event.type !== 'submit' || entry === undefined) return undefined;
  const { stepId, requestHash, planHash, step, sessionId, fence } = event;
  const isOther = sessionId !== undefined && sessionId !== head.sessionId;
  return {
    submitted: { stepId, index: step.index, seq: entry.seq, requestHash, planHash, step },
    ...(isOther ? { session: { sessionId, createdAt: head.createdAt } } : {}),
    ...(fence === undefined ? {} : { fence }),
  };
};

/**
 * Applies one event to a saga. When another writer was faster, the event is decided again on the new state
 * (S9). `next` is the present next action, whoever wrote it.
 */
export const move = async (
  dependencies: Pick<AdvanceDependencies, 'store' | 'clock' | 'maxHistoryEvents'> & {
    /** Brought by a caller that drives the saga. */
    driver?: Driver;
    inline?: Inline;
  },
  sagaId: string,
  event: SagaEvent | ((head: SagaHead) => Asked | Promise<Asked>),
  actor: Actor,
): Promise<Move> => {
  const { store, clock, inline, driver = BYSTANDER } = dependencies;
  let unstorable: string | undefined;
  for (let race = 0; race < RACE.attempts; race += 1) {
    const head = await store.getHead(sagaId);
    if (head === undefined) {
      throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}; check the id, or start it.`);
    }
    const told = typeof event === 'function' ? await event(head) : event;
    if (told === undefined) return { head, entries: [], next: { next: 'none' } };
    const now = clock.now();
    const limit = dependencies.maxHistoryEvents ?? MAX_HISTORY_EVENTS;
    const reading = readingOf(store, head, told.type === 'submit' ? told.step : undefined);
    const decided = await converse(reading, told, now.getTime(), {
      mayStart: inline !== undefined || head.historyEvents < limit,
      ...(unstorable === undefined ? driver : withoutIt(driver, unstorable)),
      ...(inline === undefined ? {} : { inline }),
    });
    const facts = [...decided.facts];
    if (decided.next.next === 'continued') {
      facts.push({
        direction: 'saga',
        status: 'resumed',
        generation: decided.state.generation + 1,
        reason: decided.next.reason,
      });
    }
    if (facts.length === 0) return { head, entries: [], next: decided.next };
    const { entries, moved } = advanceHead(head, facts, now, actor);
    const beside = { ...besideOf(told, head, entries), claims: claimsOf(moved, entries) };
    const outcome = await store.append(moved, head.version, entries, beside);
    if (outcome.written) return { head: moved, entries, next: decided.next };
    if ('unstorable' in outcome) {
      if (unstorable !== undefined) throw notStorable(sagaId, outcome.unstorable);
      unstorable = outcome.unstorable;
    } else await pauseAfterRace(clock, race);
  }
  throw new WalkbackError('Throttled', `Saga ${sagaId} is written by too many at once; try again.`, {
    retryable: true,
  });
};

/** The head after these facts, and the entries that lead to it. */
const advanceHead = (
  head: SagaHead,
  facts: readonly Fact[],
  now: Date,
  actor: Actor,
): { entries: LedgerEntry[]; moved: SagaHead } => {
  const at = now.toISOString();
  const { entries, tip } = chain(head.sagaId, head, facts, { at, actor });
  const state = applyFacts(head.state, facts, { sagaId: head.sagaId, seq: head.seq, nowMs: now.getTime() });
  const newExecution = state.generation !== head.state.generation;
  const moved: SagaHead = {
    ...head,
    ...tip,
    version: head.version + 1,
    state,
    historyEvents: newExecution || state.inline === true ? 0 : head.historyEvents + EVENTS_PER_ROUND,
    updatedAt: at,
    statusSince: isSameTurn(head.state, state) ? head.statusSince : at,
  };
  return { entries, moved };
};
