/** What comes next, as the state machine takes it. */
import type { EngineState } from './engine-protocol.ts';
import type { Next, OperationId } from './events.ts';
import { idempotencyKey } from './keys.ts';
import type { LedgerEntry, SagaHead } from './model.ts';
import { observe } from './observation.ts';
import type { AdvanceDependencies } from './ports.ts';
import { readingOf } from './prepare.ts';
import { ENGINE_SLACK_SECONDS, engineSeconds } from './timing.ts';
import type { InvokePayload, ToolRequest } from './tool-protocol.ts';

type Common = { sagaId: string; generation: number };

const OPERATIONS = { forward: 'execute', probe: 'probe', undo: 'compensate' } as const;

const requestFor = async (
  dependencies: AdvanceDependencies,
  head: SagaHead,
  fresh: readonly LedgerEntry[],
  operation: OperationId,
  deadlineMs: number,
): Promise<{ functionName: string; payload: InvokePayload }> => {
  const effect = head.state.effects[operation.effect];
  if (effect === undefined) throw new RangeError(`there is no effect ${operation.effect}`);
  const entryAt = async (seq: number | null) =>
    seq === null
      ? undefined
      : (fresh.find((entry) => entry.seq === seq) ?? (await dependencies.store.getEntry(head.sagaId, seq)));
  const step = await readingOf(dependencies.store, head).step(effect.step);
  const started = await entryAt(effect.startSeq);
  const ended = await entryAt(effect.endSeq);
  if (started?.direction !== 'forward' || started.status !== 'started' || started.arguments === undefined) {
    throw new RangeError(`entry ${effect.startSeq} is not the start of step ${step.id}`);
  }
  const committed = ended?.status === 'committed' && 'result' in ended ? ended : undefined;
  const forwardKey = started.idempotencyKey;
  const request: ToolRequest = {
    operation: OPERATIONS[operation.direction],
    tool: step.tool,
    version: step.version,
    sagaId: head.sagaId,
    step: step.id,
    attempt: operation.attempt,
    idempotencyKey:
      operation.direction === 'undo'
        ? idempotencyKey(head.sagaId, effect.step, effect.epoch, 'undo')
        : forwardKey,
    forwardKey,
    deadlineMs,
    arguments: started.arguments,
    ...(committed === undefined ? {} : { result: committed.result }),
    ...(committed?.externalRef === undefined ? {} : { externalRef: committed.externalRef }),
  };
  const { functionName, endpoint } = step;
  return { functionName, payload: endpoint === undefined ? request : { ...request, endpoint } };
};

/** The alert: every reference a person needs, and where to look (S7). At most 100 characters of subject. */
const escalation = async (
  dependencies: AdvanceDependencies,
  head: SagaHead,
  executionArn: string,
): Promise<{ subject: string; message: string }> => {
  const entries = await dependencies.store.listEntries(head.sagaId);
  const seen = observe(head, entries);
  const lines = seen.notCompensated.map(
    ({ step, tool, externalRef, reason }) => `- ${step} (${tool}) ref ${externalRef ?? 'none'}: ${reason}`,
  );
  const message = [
    `Saga ${head.sagaId} could not be undone completely.`,
    `Cause: ${seen.failed?.error.name ?? 'unknown'}: ${seen.failed?.error.message ?? ''}`,
    'What still stands:',
    ...lines,
    `Execution: ${dependencies.executionLink(executionArn)}`,
    `Work it: walkback saga show ${head.sagaId}; then retry, resolve or skip.`,
  ].join('\n');
  return { subject: `Walkback: compensation failed, saga ${head.sagaId}`.slice(0, 100), message };
};

export const render = async (
  dependencies: AdvanceDependencies,
  head: SagaHead,
  fresh: readonly LedgerEntry[],
  next: Next,
  common: Common,
  executionArn: string,
): Promise<EngineState> => {
  const nowMs = dependencies.clock.now().getTime();
  switch (next.next) {
    case 'invoke': {
      const request = await requestFor(dependencies, head, fresh, next.operation, next.deadlineMs);
      const timeoutSeconds = engineSeconds(next.deadlineMs - nowMs) + ENGINE_SLACK_SECONDS;
      return { ...common, action: 'INVOKE', operation: next.operation, timeoutSeconds, ...request };
    }
    case 'await': {
      const step = await readingOf(dependencies.store, head).step(next.step);
      return {
        ...common,
        action: 'AWAIT',
        stepIndex: next.step,
        step: step.id,
        timeoutSeconds: engineSeconds(next.untilMs - nowMs),
        until: new Date(next.untilMs).toISOString(),
        prompt: step.approval?.prompt ?? `Approve step ${step.id}?`,
      };
    }
    case 'pause':
      return { ...common, action: 'PAUSE', seconds: engineSeconds(next.untilMs - nowMs) };
    case 'escalate':
      return { ...common, action: 'ESCALATE', ...(await escalation(dependencies, head, executionArn)) };
    case 'end':
      return { ...common, action: 'END', status: next.status };
    case 'none':
    case 'prepare':
    case 'prepare-undo':
      throw new RangeError(`${next.next} is not for the engine`);
  }
};
