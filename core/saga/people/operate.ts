/** Commands of operators: cancel a saga, or deal with what a failed compensation left (S7, S11). */
import type { Asked } from '../../../contract/identity.ts';
import type { OperatedSaga } from '../../../contract/saga-answers.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { MAX_FACTS } from '../decide/decide.ts';
import { isCancellable } from '../decide/decide-control.ts';
import { isLeftOver } from '../decide/effects.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import { readLedger } from '../entries/read-ledger.ts';
import { resumeParked } from '../interactive/park.ts';
import type { SagaHead } from '../model/head.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import type { AdvanceDependencies, SagaStore } from '../ports.ts';
import { readingOf } from '../prepare/reading.ts';
import { createBreakLock } from '../run/break-lock.ts';
import { ensureDriven } from '../run/ensure-driven.ts';
import { recheckTree, tellAncestors } from '../run/family.ts';
import { move } from '../run/move.ts';
import { tellMachine, warned } from '../run/tell-machine.ts';
import { wake } from '../run/wake.ts';
import { attemptKey, type DecisionScope, dueUnasked, requireUndecided, wasAsked } from './asked-before.ts';
import { checkOperation } from './check-operation.ts';
import { undoSaga } from './undo-saga.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'>;

const refuse = (message: string): never => {
  throw new WalkbackError('OperationRefused', message);
};

const cancelEvent =
  (request: Pick<OperateSagaInput, 'evidence'>) =>
  (head: SagaHead): SagaEvent | undefined => {
    if (head.state.status === 'COMPLETED') {
      refuse(
        `Saga ${head.sagaId} is completed; a finished saga is not cancelled. walkback saga undo takes it back.`,
      );
    }
    if (!isCancellable(head.state)) return undefined;
    return { type: 'cancel', ...(request.evidence === undefined ? {} : { evidence: request.evidence }) };
  };

/** Effects left for a person: failed or blocked compensators, and effects that nothing takes back. */
const isLeft = (state: SagaState, effect: EffectRecord, index: number): boolean =>
  isLeftOver(state, effect, index) && effect.status !== 'undo_delayed';

/**
 * Effects of a saga still being undone that a person may want retried now: delayed ones, and the one about
 * to be called again.
 */
const isWaiting = ({ effects, operation }: SagaState, index: number, nowMs: number): boolean => {
  if (operation?.effect === index) return operation.stage !== 'invoking' && operation.hurried !== true;
  const effect = effects[index];
  return effect?.status === 'undo_delayed' && (effect.undo?.untilMs ?? 0) > nowMs;
};

/**
 * The effects that an action covers: the named step, or for `retry` all that failed or are delayed. Of these,
 * the last ones, as many as one move can hold.
 */
const chosen = (
  { state }: SagaHead,
  { action, stepId }: Asked<OperateSagaInput>,
  { named, nowMs, errors }: DecisionScope,
): number[] => {
  const isMeant = (effect: EffectRecord, index: number): boolean => {
    // Its children are worked on, and then this saga decides again by itself.
    if (effect.children === true) return false;
    if (stepId !== undefined && named?.has(attemptKey(effect.step, effect.epoch)) !== true) return false;
    if (errors !== undefined && errors.get(attemptKey(effect.step, effect.epoch)) === undefined) return false;
    if (state.phase === 'done')
      return action === 'retry' ? effect.status === 'undo_failed' : isLeft(state, effect, index);
    if (action === 'retry') return isWaiting(state, index, nowMs);
    return effect.status === 'undo_delayed' && state.operation?.effect !== index;
  };
  const indexes = state.effects.flatMap((effect, index) => (isMeant(effect, index) ? [index] : []));
  return action === 'retry' ? indexes.slice(-MAX_FACTS) : indexes;
};

/**
 * Effects of the named step that somebody let stand. They do not stop the saga from ending, so they may be
 * resolved at any time.
 */
const letStand = ({ state }: SagaHead, { named }: DecisionScope): number[] =>
  state.effects.flatMap(({ step, epoch, status }, index) =>
    status === 'skipped' && named?.has(attemptKey(step, epoch)) === true ? [index] : [],
  );

/** The places of a step's effects. After rewinds there may be several, one for each epoch. */
const findPlaces = async (
  store: SagaStore,
  head: SagaHead,
  stepId: string,
  asked: number | undefined,
): Promise<Set<string>> => {
  const places = new Set<string>();
  const reading = readingOf(store, head);
  for (const { step, epoch } of head.state.effects) {
    if (asked !== undefined && epoch !== asked) continue;
    const { id } = await reading.step(step, head.state, epoch);
    if (id === stepId) places.add(attemptKey(step, epoch));
  }
  if (places.size > 0) return places;
  throw new WalkbackError(
    'StepNotFound',
    `Saga ${head.sagaId} has not started a step ${stepId}${asked === undefined ? '' : ` in epoch ${asked}`}.`,
  );
};

const isLeftBelow = (state: SagaState): boolean =>
  state.effects.some((effect, index) => effect.children === true && isLeftOver(state, effect, index));

const refusalOf = (
  head: SagaHead,
  { action, stepId = '' }: Asked<OperateSagaInput>,
  about: DecisionScope,
): string => {
  const { sagaId, state } = head;
  const { operation } = state;
  if (letStand(head, about).length > 0) {
    return `Step ${stepId} of saga ${sagaId} was let stand, and its compensator is not called again. When it was undone by hand: walkback saga resolve ${sagaId} ${stepId} --evidence "...".`;
  }
  const meant = state.effects.findLast(
    ({ step, epoch }) => about.named?.has(attemptKey(step, epoch)) === true,
  );
  if (meant?.status === 'undone') {
    return `Step ${stepId} of saga ${sagaId} is taken back already; nothing of it is left to work.`;
  }
  if (state.phase === 'forward' || state.status === 'COMPLETED' || state.status === 'COMPENSATED') {
    return `Saga ${sagaId} is ${state.status}; only a failed or delayed compensation can be worked.`;
  }
  if (state.phase === 'undo' && operation !== null && operation.stage === 'invoking') {
    const until = new Date(operation.deadlineMs).toISOString();
    return `Saga ${sagaId} is calling a compensator, until ${until} at the latest; ask again when it has answered.`;
  }
  if (state.phase === 'undo') {
    return `Saga ${sagaId} is being undone, and nothing that is delayed fits; walkback saga show ${sagaId} says what it does.`;
  }
  if (isLeftBelow(state)) {
    return `What is left of saga ${sagaId} is left of its children: work those that walkback saga tree ${sagaId} shows, and it goes on by itself.`;
  }
  return action === 'retry'
    ? 'No failed compensator to retry here; what nothing takes back is resolved by hand or skipped.'
    : `Step ${stepId} has nothing left to work.`;
};

const isWorkable = ({ phase, status }: SagaState): boolean =>
  phase === 'undo' || status === 'COMPENSATION_FAILED';

/**
 * A child that was repaired may have died before it told the saga above it. An operation on either saga makes
 * up for that. Answers whether a saga goes on because of it.
 */
const makeUpForLostWord = async (
  dependencies: Dependencies,
  head: SagaHead,
  request: Asked<OperateSagaInput>,
  about: DecisionScope,
): Promise<boolean> => {
  const isNothingOwn =
    (!isWorkable(head.state) || chosen(head, request, about).length === 0) &&
    (request.action !== 'resolve' || letStand(head, about).length === 0);
  if (!isNothingOwn) return false;
  if (head.state.status === 'COMPENSATION_FAILED' && isLeftBelow(head.state)) {
    return recheckTree(dependencies, head);
  }
  return head.state.status === 'COMPENSATED' && (await tellAncestors(dependencies, head));
};

const operateEvent =
  (
    store: SagaStore,
    request: Asked<OperateSagaInput> & { action: 'retry' | 'resolve' | 'skip' },
    about: DecisionScope,
  ) =>
  async (head: SagaHead): Promise<SagaEvent | undefined> => {
    const { action } = request;
    const evidence = request.evidence === undefined ? {} : { evidence: request.evidence };
    const chosenNow = isWorkable(head.state) ? chosen(head, request, about) : [];
    const due = action === 'retry' ? await dueUnasked(store, head, about) : [];
    const effects = [...chosenNow, ...due].toSorted((a, b) => a - b).slice(-MAX_FACTS);
    if (effects.length > 0) return { type: 'operate', action, effects, ...evidence };
    const standing = action === 'resolve' ? letStand(head, about) : [];
    if (standing.length > 0) {
      const isOver = await wasAsked(store, head, request, about);
      return isOver ? undefined : { type: 'operate', action, effects: standing, ...evidence };
    }
    if (await wasAsked(store, head, request, about)) return undefined;
    await requireUndecided(store, head, request, about);
    return refuse(refusalOf(head, request, about));
  };

/** The steps whose last compensation ended in an error of this name, by place. */
const findErrors = async (store: SagaStore, head: SagaHead, name: string): Promise<Map<string, string>> => {
  const last = new Map<string, string>();
  for (const entry of await readLedger(store, head.sagaId, head.seq)) {
    if (entry.direction !== 'undo' || !('error' in entry)) continue;
    last.set(attemptKey(entry.stepIndex, entry.epoch), entry.error.name);
  }
  return new Map([...last].filter(([, error]) => error === name));
};

/**
 * A cancel is recorded, and the execution that drives the saga carries it out. The other actions give a saga
 * whose compensation failed or is delayed to a new execution, so that they act at once. Repeating a request
 * changes nothing, except that the sagas around it look again. An execution that cannot be told is a warning.
 * Throws `OperationRefused`, and
 * `OperationConflict` when a person has decided otherwise before.
 */
export const createOperate =
  (dependencies: Dependencies) =>
  async (request: Asked<OperateSagaInput>): Promise<OperatedSaga> => {
    checkOperation(request);
    const { store, clock } = dependencies;
    const { sagaId, action, stepId, by } = request;
    if (action === 'undo') return undoSaga(dependencies, request);
    const head = await store.getHead(sagaId);
    if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
    if (action === 'resume') return resumeParked(dependencies, sagaId, by);
    if (action === 'cancel') {
      const moved = await move(dependencies, sagaId, cancelEvent(request), by);
      const warnings = await tellMachine(dependencies, sagaId, async () => {
        await wake(dependencies, sagaId);
        await ensureDriven(dependencies, moved.head, by);
      });
      return { sagaId, status: moved.head.state.status, ...warned(warnings) };
    }
    if (action === 'break-lock') {
      const { state } = await createBreakLock(dependencies)(request);
      return { sagaId, status: state.status };
    }
    const about = {
      named: stepId === undefined ? undefined : await findPlaces(store, head, stepId, request.epoch),
      nowMs: clock.now().getTime(),
      ...(request.error === undefined ? {} : { errors: await findErrors(store, head, request.error) }),
    };
    if (await makeUpForLostWord(dependencies, head, request, about)) {
      return { sagaId, status: (await store.getHead(sagaId))?.state.status ?? head.state.status };
    }
    const moved = await move(dependencies, sagaId, operateEvent(store, { ...request, action }, about), by);
    const warnings = await tellMachine(dependencies, sagaId, () =>
      ensureDriven(dependencies, moved.head, by),
    );
    return { sagaId, status: moved.head.state.status, ...warned(warnings) };
  };
