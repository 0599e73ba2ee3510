/** Accepts the next step of an interactive saga, drives it, and answers what became of it. */
import type { SteppedSaga } from '../../../contract/saga-answers.ts';
import type { SubmitStepInput } from '../../../contract/saga-inputs.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import { readTrueLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SubmittedStep } from '../model/submitted-step.ts';
import { ownDeadlines } from '../plan/deadlines.ts';
import { pinSteps } from '../plan/pinned-steps.ts';
import { move } from '../run/move.ts';
import { createDriver } from '../run/prepare-next.ts';
import { fenceOf, requireFence } from '../run/session-fence.ts';
import { fittingObservation } from '../view/fit-observation.ts';
import { observe } from '../view/observation.ts';
import { interactiveHead, policyOf, requireAccepting } from './accepting.ts';
import { type DriveDependencies, drive, RESERVE_MS } from './drive.ts';
import { pinSubmitted } from './pin-submitted.ts';
import { isSettled, stepAnswer, stepStatus } from './step-answer.ts';

/** Longer than the default deadline of a tool with its margin, so that most steps need no machine. */
const DEFAULT_WAIT_SECONDS = 60;

const POLL_MS = 250;

const requireSame = (known: SubmittedStep, requestHash: string): void => {
  if (known.requestHash === requestHash) return;
  throw new WalkbackError(
    'StepConflict',
    `Step ${known.stepId} was submitted with another tool, other arguments or another deadline; choose another step id.`,
  );
};

const warningsOf = ({ state }: SagaHead): string[] => {
  const lasting = state.effects.filter(
    ({ kind, status }) => kind === 'irreversible' && (status === 'committed' || status === 'unknown'),
  ).length;
  if (lasting === 0) return [];
  const what = lasting === 1 ? '1 irreversible step stands' : `${lasting} irreversible steps stand`;
  return [`${what}: if this saga is unwound, that stays.`];
};

/**
 * A repeated request for the same step gets what became of it. Of concurrent callers, the one whose write was
 * first drives, and the others only wait. Throws `StepConflict` for another request under that id,
 * `PlanRefused` for a bad step, and an error of its own for each state in which no step is accepted. Nothing
 * is written then.
 */
export const createSubmitStep = (dependencies: DriveDependencies) => {
  const { store, clock, checkEpoch } = dependencies;
  const nowMs = () => clock.now().getTime();

  const eventFor = (request: SubmitStepInput, requestHash: string) => {
    const { sagaId, stepId, sessionId, messageId } = request;
    const fence = fenceOf(request);
    let pinned: PinnedStep | undefined;
    return async (head: SagaHead): Promise<SagaEvent | undefined> => {
      const known = await store.getSubmittedStep(sagaId, stepId);
      if (known !== undefined) {
        requireSame(known, requestHash);
        return undefined;
      }
      await requireFence(checkEpoch, fence);
      requireAccepting(head, sessionId);
      pinned ??= await pinSubmitted(store, policyOf(head), request);
      const step = { ...pinned, index: head.state.stepCount };
      const { planHash } = pinSteps([step]);
      const context = { ...(sessionId && { sessionId }), ...(messageId && { messageId }) };
      return { type: 'submit', stepId, step, planHash, requestHash, ...context, ...(fence && { fence }) };
    };
  };

  /** Polls until the step is settled or the time is up. */
  const follow = async (sagaId: string, stepId: string, untilMs: number) => {
    for (;;) {
      const submitted = await store.getSubmittedStep(sagaId, stepId);
      const head = await interactiveHead(store, sagaId);
      if (submitted === undefined) throw new RangeError(`step ${stepId} was not submitted`);
      const leftMs = untilMs - nowMs();
      if (leftMs <= 0 || isSettled(stepStatus(head.state, submitted.index))) return { submitted, head };
      await clock.sleep(Math.min(leftMs, POLL_MS));
    }
  };

  return async (request: SubmitStepInput, invocation: Invocation): Promise<SteppedSaga> => {
    const { sagaId, stepId, tool, version = null, waitSeconds = DEFAULT_WAIT_SECONDS } = request;
    const untilMs = Math.min(nowMs() + waitSeconds * 1000, invocation.deadlineMs - RESERVE_MS);
    const { requestedBy } = await interactiveHead(store, sagaId);
    const requestHash = hashJson({ tool, version, arguments: request.arguments, ...ownDeadlines(request) });
    const inline = { untilMs };
    const event = eventFor(request, requestHash);
    const moved = await move(
      { ...dependencies, inline, driver: createDriver(dependencies.evaluate) },
      sagaId,
      event,
      requestedBy,
    );
    const untold = moved.entries.length > 0 ? await drive(dependencies, moved, inline) : [];
    const { submitted, head } = await follow(sagaId, stepId, untilMs);
    return {
      step: await stepAnswer(store, head, submitted),
      warnings: [...untold, ...warningsOf(head)],
      ...(request.observe === false
        ? {}
        : { saga: fittingObservation(observe(head, await readTrueLedger(store, head))) }),
    };
  };
};
