/** Records a person's answer to an approval, and wakes the execution that waits for it. */
import type { Asked } from '../../../contract/identity.ts';
import type { AnnounceAwaitInput } from '../../../contract/internal-inputs.ts';
import type { AnsweredSaga } from '../../../contract/saga-answers.ts';
import type { AnswerInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { readLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { approvalStep } from '../model/state.ts';
import { isStillBusy } from '../permits/look.ts';
import type { AdvanceDependencies, SagaEngine, SagaStore, WakeToken } from '../ports.ts';
import { readingOf } from '../prepare/reading.ts';
import { hasNews } from '../run/family.ts';
import { move } from '../run/move.ts';
import { tellMachine, warned } from '../run/tell-machine.ts';
import { wake } from '../run/wake.ts';
import { requireFresh, requireOther } from './identify.ts';
import { opensIrreversible } from './opens-irreversible.ts';
import { refuseAnswer, requireStep } from './refuse-answer.ts';
import { rewindsThatBrought } from './step-authors.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'>;

const lastAnswer = (entries: readonly LedgerEntry[], stepId: string, epoch: number) =>
  entries.findLast(
    (entry) =>
      entry.direction === 'approval' &&
      entry.step === stepId &&
      entry.epoch === epoch &&
      entry.status !== 'requested',
  );

/**
 * After a rewind the question is asked again, perhaps about other arguments. An older answer does not apply
 * to it.
 */
const requireEpoch = ({ sagaId, state }: SagaHead, { epoch = 0, stepId }: Asked<AnswerInput>): void => {
  if (epoch === state.epoch) return;
  const why =
    epoch < state.epoch
      ? `was rewound since step ${stepId} was asked about (epoch ${epoch}, now ${state.epoch})`
      : `asked about nothing in epoch ${epoch}, because it is in epoch ${state.epoch}`;
  throw new WalkbackError(
    'AnswerConflict',
    `Saga ${sagaId} ${why}. Look at step ${stepId} again, and answer with its epoch.`,
    { details: { sagaId, epoch: state.epoch } },
  );
};

/**
 * The recorded answer, when the saga no longer waits on this step; undefined when there is none. A repeated
 * equal answer is accepted and told who gave it first. A different one is refused.
 */
const recorded = (
  entries: readonly LedgerEntry[],
  request: Asked<AnswerInput>,
): AnsweredSaga['answered'] | undefined => {
  const answer = lastAnswer(entries, request.stepId, request.epoch ?? 0);
  const { decision } = request;
  const wanted = decision === 'approve' ? 'approved' : 'declined';
  if (answer?.status === wanted) {
    const { actor: by, at, person } = answer;
    return { decision, by, at, ...(person === undefined ? {} : { person }) };
  }
  if (answer?.status === 'expired') {
    throw new WalkbackError(
      'ApprovalExpired',
      `The approval of step ${request.stepId} expired at ${answer.at}.`,
    );
  }
  if (answer !== undefined) {
    throw new WalkbackError(
      'AnswerConflict',
      `Step ${request.stepId} was ${answer.status} by ${answer.actor} at ${answer.at}.`,
    );
  }
  return undefined;
};

/** `entries`: those of the move that recorded the answer; else all are read. */
const standing = async (
  store: SagaStore,
  head: SagaHead,
  request: Asked<AnswerInput>,
  entries: readonly LedgerEntry[] = [],
): Promise<AnsweredSaga['answered']> => {
  const known = entries.length === 0 ? await readLedger(store, head.sagaId) : entries;
  return recorded(known, request) ?? refuseAnswer(store, head, request.stepId);
};

/**
 * Records the answer, then wakes the execution. An equal answer, from anyone, is told who gave it first.
 * When the execution cannot be woken, that is a warning. Throws `AnswerConflict` for a different one, `ApprovalExpired` after the timeout, and `StepNotFound` or
 * `OperationRefused` when nobody was asked.
 */
export const createAnswer =
  (dependencies: Dependencies) =>
  async (request: Asked<AnswerInput>): Promise<AnsweredSaga> => {
    const { store, clock } = dependencies;
    const head = await store.getHead(request.sagaId);
    if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${request.sagaId}.`);
    const { state } = head;
    const tell = async () =>
      warned(await tellMachine(dependencies, request.sagaId, () => wake(dependencies, request.sagaId)));
    if ((request.epoch ?? 0) !== state.epoch) await requireStep(store, head, request.stepId);
    requireEpoch(head, request);
    const index = approvalStep(state.wait);
    const waited = index === undefined ? undefined : await readingOf(store, head).step(index, state);
    if (waited?.id !== request.stepId) {
      const answered = await standing(store, head, request);
      return { sagaId: request.sagaId, status: head.state.status, answered, ...(await tell()) };
    }
    if (request.decision === 'approve') {
      // A claim does not tell people apart and has no time, so nothing needs to be looked up for it.
      if (typeof request.by !== 'string') {
        const rewinds = await rewindsThatBrought(store, head, waited.index);
        const names = rewinds.flatMap(({ actor, person }) => [actor, person?.sub, person?.email]);
        requireOther(request.by, [head.requestedBy, ...names]);
        if (await opensIrreversible(store, head, waited)) requireFresh(request.by, clock);
      }
    }
    const note = request.note === undefined ? {} : { note: request.note };
    const isAsking = ({ state: now }: SagaHead) =>
      now.epoch === state.epoch && approvalStep(now.wait) === waited.index;
    const event = (now: SagaHead) => {
      requireEpoch(now, request);
      if (now.state.wait?.kind !== 'approval' || !isAsking(now)) return undefined;
      const { argumentsHash } = now.state.wait;
      if (request.argumentsHash !== undefined && request.argumentsHash !== argumentsHash) {
        throw new WalkbackError(
          'AnswerConflict',
          `The arguments of step ${request.stepId} are not those that you were shown. Look at it again.`,
          { details: { argumentsHash } },
        );
      }
      if (clock.now().getTime() >= now.state.wait.untilMs) return undefined;
      return { type: 'answer' as const, step: waited.index, decision: request.decision, ...note };
    };
    let moved = await move(dependencies, request.sagaId, event, request.by);
    // An answer in time may be written at the same moment as a late one expires. Whichever is recorded first
    // decides.
    if (moved.entries.length === 0) {
      const late = (now: SagaHead) => (isAsking(now) ? { type: 'expire' as const } : undefined);
      moved = await move(dependencies, request.sagaId, late, 'engine');
    }
    const told = await tell();
    const answered = await standing(store, moved.head, request, moved.entries);
    return { sagaId: request.sagaId, status: moved.head.state.status, answered, ...told };
  };

/** Whether the saga still has to wait for what the execution with this token waits for. */
const isWaiting = async (
  dependencies: { store: SagaStore },
  head: SagaHead | undefined,
  token: WakeToken,
): Promise<boolean> => {
  const wait = head?.state.wait ?? null;
  if (head?.state.generation !== token.generation || wait === null) return false;
  switch (wait.kind) {
    case 'approval':
      return wait.step === token.step;
    case 'resource':
      return wait.step === token.step && (await isStillBusy(dependencies, head));
    case 'children':
      return !(await hasNews(dependencies.store, head));
    case 'slot':
    case 'parked':
    case 'next-step':
      return false;
  }
};

/**
 * Keeps the token of an execution that begins to wait. If the awaited event came before, wakes the execution
 * at once. Whichever of the two comes second sees the other. A late
 * announcement of an earlier attempt does not replace the token of a later one.
 */
export const createAnnounceAwait =
  (dependencies: { store: SagaStore; engine: SagaEngine }) =>
  async ({ entered, ...waiting }: AnnounceAwaitInput): Promise<void> => {
    const { store, engine } = dependencies;
    const token = { ...waiting, enteredMs: Date.parse(entered) };
    const before = await store.getHead(token.sagaId);
    if (before?.state.generation === token.generation && !(await store.putToken(token))) return;
    const head = await store.getHead(token.sagaId);
    if (!(await isWaiting(dependencies, head, token))) await engine.wake(token.token);
  };
