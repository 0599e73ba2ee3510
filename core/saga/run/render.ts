/** Renders the next action for the state machine. */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Next, OperationId } from '../decide/saga-events.ts';
import { readLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import { idempotencyKey } from '../model/keys.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { ENGINE_SLACK_SECONDS, engineSeconds } from '../model/timing.ts';
import type { AdvanceDependencies, InvokePayload } from '../ports.ts';
import { readingOf } from '../prepare/reading.ts';
import { HTTP_TOOL_FUNCTION } from '../tools/http-endpoint.ts';
import { observeBelow } from '../view/family-view.ts';
import type { EngineState } from './engine-protocol.ts';
import { escalation, idleNotice } from './escalation.ts';

type Common = { sagaId: string; generation: number };

const OPERATIONS = { forward: 'execute', probe: 'probe', undo: 'compensate' } as const;

/** The call of a function for an operation. */
export const requestFor = async (
  dependencies: Pick<AdvanceDependencies, 'store' | 'httpToolFunction'>,
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
  const step = await readingOf(dependencies.store, head).step(effect.step, head.state, effect.epoch);
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
    // A committed call with an error has no result: its result broke the tool's contract, and the ledger has
    // null instead.
    ...(committed === undefined || committed.error !== undefined ? {} : { result: committed.result }),
    ...(committed?.externalRef === undefined ? {} : { externalRef: committed.externalRef }),
    ...(started.fencingToken === undefined ? {} : { fencingToken: started.fencingToken }),
  };
  if (step.kind === 'children') throw new RangeError(`step ${step.id} calls no tool`);
  const { functionName, endpoint } = step;
  if (endpoint === undefined) return { functionName, payload: request };
  const { httpToolFunction = HTTP_TOOL_FUNCTION } = dependencies;
  return { functionName: httpToolFunction, payload: { ...request, endpoint } };
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
      const step = await readingOf(dependencies.store, head).step(next.step, head.state);
      return {
        ...common,
        action: 'AWAIT',
        stepIndex: next.step,
        step: step.id,
        timeoutSeconds: engineSeconds(next.untilMs - nowMs),
        until: new Date(next.untilMs).toISOString(),
        prompt: step.approval?.prompt ?? `Approve step ${step.id}?`,
        waitsFor: head.state.wait?.kind === 'children' ? 'children' : 'approval',
      };
    }
    case 'pause':
      return { ...common, action: 'PAUSE', seconds: engineSeconds(next.untilMs - nowMs) };
    case 'escalate': {
      const { store } = dependencies;
      const seen = await observeBelow(store, head, await readLedger(store, head.sagaId, head.seq));
      const execution = dependencies.executionLink(executionArn);
      const { consoleUrl } = dependencies;
      return { ...common, action: 'ESCALATE', ...escalation(seen, { execution, consoleUrl }) };
    }
    case 'idle':
      if (fresh.some(({ direction, status }) => direction === 'saga' && status === 'idle')) {
        return { ...common, action: 'NOTIFY', ...idleNotice(head, dependencies.consoleUrl) };
      }
      return { ...common, action: 'END', status: head.state.status };
    case 'end':
      return { ...common, action: 'END', status: next.status };
    case 'none':
    case 'hand-over':
    case 'prepare':
    case 'prepare-locks':
    case 'prepare-undo':
    case 'prepare-children':
    case 'prepare-output':
      throw new RangeError(`${next.next} is not for the engine`);
  }
};
