/**
 * One call of a tool without a plan (L10): a saga of one step whose id follows from the request, driven
 * inside this function. When one call does not settle it, the machine takes over. A read writes no ledger.
 */

import type { CalledTool, StepAnswer } from '../../../contract/saga-answers.ts';
import type { CallToolInput } from '../../../contract/saga-inputs.ts';
import { DAY_SECONDS } from '../../../contract/times.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import { backoffMs, ENGINE_SLACK_SECONDS, unreachedBackoffMs } from '../model/timing.ts';
import { ownDeadlines } from '../plan/deadlines.ts';
import { requirePolicy } from '../plan/policy.ts';
import { outcomeOf } from '../run/engine-protocol.ts';
import { fenceOf, requireFence } from '../run/session-fence.ts';
import type { createStartSaga } from '../run/start.ts';
import { HTTP_TOOL_FUNCTION } from '../tools/http-endpoint.ts';
import { type DriveDependencies, RESERVE_MS } from './drive.ts';
import { pinSubmitted } from './pin-submitted.ts';
import type { createSubmitStep } from './submit.ts';

const STEP_ID = 'call';
const DEFAULT_WAIT_SECONDS = 60;

export interface CallToolDependencies extends DriveDependencies {
  start: ReturnType<typeof createStartSaga>;
  submit: ReturnType<typeof createSubmitStep>;
}

/** The same request always has the same saga. */
const sagaIdOf = (requestId: string): string => `call-${sha256Hex(requestId).slice(0, 40)}`;

const conflict = (requestId: string): WalkbackError =>
  new WalkbackError(
    'RequestConflict',
    `Request "${requestId}" was another call: of another tool or version, with other arguments or another deadline, or for somebody else; repeat it unchanged, or choose another id.`,
  );

/**
 * Calls a tool that only reads. A read changes nothing, so it is repeated as often as its tool allows and the
 * time lasts. `lastMs`: when the answer must be there.
 */
const read = async (
  { tools, clock, httpToolFunction = HTTP_TOOL_FUNCTION }: CallToolDependencies,
  step: PinnedToolStep,
  sagaId: string,
  { untilMs, lastMs }: { untilMs: number; lastMs: number },
): Promise<StepAnswer> => {
  const { tool, version, endpoint, retry } = step;
  const key = `${sagaId}:0`;
  let unreached = 0;
  for (let attempt = 1; ; attempt += 1) {
    const nowMs = clock.now().getTime();
    const slackMs = ENGINE_SLACK_SECONDS * 1000;
    const deadlineMs = Math.min(nowMs + step.timeoutSeconds * 1000, lastMs - slackMs);
    const request = {
      operation: 'execute' as const,
      tool,
      version,
      sagaId,
      step: STEP_ID,
      attempt,
      idempotencyKey: key,
      forwardKey: key,
      deadlineMs,
      arguments: step.arguments,
    };
    const [functionName, payload] =
      endpoint === undefined ? [step.functionName, request] : [httpToolFunction, { ...request, endpoint }];
    const outcome = outcomeOf(await tools.invoke(functionName, payload, deadlineMs - nowMs + slackMs));
    if (outcome.outcome === 'committed' && outcome.error === undefined) {
      const { result, externalRef } = outcome;
      const reference = externalRef === undefined ? {} : { externalRef };
      return { stepId: STEP_ID, status: 'committed', result, ...reference };
    }
    const error =
      'error' in outcome && outcome.error !== undefined
        ? outcome.error
        : { name: 'InvalidResult', message: 'the tool answered a call as if it were a probe' };
    // A call that never reached the tool uses up no attempt. Only the time bounds these.
    const isUnreached = outcome.outcome === 'rejected' && outcome.reached === false;
    if (isUnreached) unreached += 1;
    const policyMs = backoffMs(retry, Math.max(1, attempt - unreached));
    const pauseMs = isUnreached ? unreachedBackoffMs(key, unreached, policyMs) : policyMs;
    const again = outcome.outcome === 'unknown' || (outcome.outcome === 'rejected' && outcome.retryable);
    const hasTime = clock.now().getTime() + pauseMs + step.timeoutSeconds * 1000 + slackMs <= untilMs;
    if (!again || !hasTime || attempt - unreached >= retry.maxAttempts) {
      return { stepId: STEP_ID, status: 'rejected', error };
    }
    await clock.sleep(pauseMs);
  }
};

/**
 * A repeated request gets what became of the first. Throws `RequestConflict` for another call under the same
 * id, and `PlanRefused` before anything is written.
 */
export const createCallTool =
  (dependencies: CallToolDependencies) =>
  async (request: CallToolInput, invocation: Invocation): Promise<CalledTool> => {
    const { store, clock, start, submit } = dependencies;
    const { requestId, tool, version, requestedBy, sessionId, messageId, epoch } = request;
    const { waitSeconds = DEFAULT_WAIT_SECONDS, allowIrreversible = false } = request;
    const sagaId = sagaIdOf(requestId);
    const asked = {
      onIdle: 'unwind' as const,
      idleTimeoutSeconds: DAY_SECONDS,
      single: true as const,
      ...(allowIrreversible ? { allowIrreversible: [tool] } : {}),
    };
    const step = {
      stepId: STEP_ID,
      tool,
      arguments: request.arguments,
      ...(version === undefined ? {} : { version }),
      ...ownDeadlines(request),
    };
    if ((await store.getHead(sagaId)) === undefined) {
      // A read writes nothing, but work of an older epoch is refused all the same.
      await requireFence(dependencies.checkEpoch, fenceOf(request));
      const pinned = await pinSubmitted(store, await requirePolicy(store, asked), step);
      const lastMs = invocation.deadlineMs - RESERVE_MS;
      const untilMs = Math.min(clock.now().getTime() + waitSeconds * 1000, lastMs);
      if (pinned.effect === 'read') {
        return {
          sagaId: null,
          step: await read(dependencies, pinned, sagaId, { untilMs, lastMs }),
          warnings: [],
        };
      }
    }
    const context = {
      ...(sessionId && { sessionId }),
      ...(messageId && { messageId }),
      ...(epoch && { epoch }),
    };
    try {
      await start({ sagaId, interactive: asked, ...context, requestedBy });
      const told = await submit({ sagaId, ...step, ...context, waitSeconds, observe: false }, invocation);
      return { sagaId, step: told.step, warnings: [] };
    } catch (error) {
      if (isWalkbackError(error, 'StepConflict') || isWalkbackError(error, 'RequestConflict')) {
        throw conflict(requestId);
      }
      throw error;
    }
  };
