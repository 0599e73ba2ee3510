/** The data that the state machine carries from state to state, and its translation to events and back. */
import * as z from 'zod';
import type { AdvanceInput } from '../../../contract/internal-inputs.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { clip } from '../../shared/clip.ts';
import type { OperationId, Outcome, SagaEvent } from '../decide/saga-events.ts';
import { ENGINE_SLACK_SECONDS } from '../model/timing.ts';
import type { InvokePayload } from '../ports.ts';
import { readEngineError, readToolResponse } from '../tools/tool-protocol.ts';

interface Common {
  sagaId: string;
  generation: number;
}

/** The answer of `advance-saga`. `Route` chooses by `action`. */
export type EngineState = Common &
  (
    | {
        action: 'INVOKE';
        operation: OperationId;
        functionName: string;
        /** An integer of 1 or more, because the machine cannot catch a missing or bad one. */
        timeoutSeconds: number;
        payload: InvokePayload;
      }
    | {
        action: 'AWAIT';
        stepIndex: number;
        step: string;
        timeoutSeconds: number;
        until: string;
        prompt: string;
        waitsFor: 'approval' | 'children';
      }
    | { action: 'PAUSE'; seconds: number }
    | { action: 'ESCALATE' | 'NOTIFY'; subject: string; message: string }
    /** Of a saga that failed: whether the alert topic took its alert. */
    | { action: 'ALERTED' | 'UNALERTED' }
    | { action: 'END'; status: SagaStatus | 'SUPERSEDED' | 'CONTINUED' }
  );

const engineError = z.object({ Error: z.string(), Cause: z.string().optional() });
const published = z.object({ MessageId: z.string() });
const engineResult = z.object({ Payload: z.unknown().optional() });

/** The outcome of a call of a tool, from what the engine, or a function in its place, reports. */
export const outcomeOf = (invoked: unknown): Outcome => {
  const failed = engineError.safeParse(invoked);
  if (failed.success) return readEngineError(failed.data.Error, failed.data.Cause ?? '');
  const answered = engineResult.safeParse(invoked);
  return readToolResponse(answered.success ? answered.data.Payload : undefined);
};

/** A cause can have 32 KiB, and the ledger needs to say why, not all. */
const MAX_CAUSE_LENGTH = 1000;

const alertOf = (answer: unknown): SagaEvent => {
  const failed = engineError.safeParse(answer);
  if (failed.success) {
    const { Error: name, Cause = '' } = failed.data;
    return { type: 'alert', told: { error: { name, message: clip(Cause, MAX_CAUSE_LENGTH) } } };
  }
  const sent = published.safeParse(answer);
  return { type: 'alert', told: sent.success ? { messageId: sent.data.MessageId } : {} };
};

/** The event in the machine's input. */
export const eventOf = (state: AdvanceInput['state']): SagaEvent => {
  if (state.action === undefined) return { type: 'begin' };
  if (state.action === 'ESCALATE' && state.alert !== undefined) return alertOf(state.alert);
  if (state.action !== 'INVOKE' || state.operation === undefined) return { type: 'continue' };
  const event = { type: 'outcome' as const, operation: state.operation, outcome: outcomeOf(state.outcome) };
  const { timeoutSeconds } = state;
  return typeof timeoutSeconds === 'number'
    ? { ...event, givenSeconds: timeoutSeconds - ENGINE_SLACK_SECONDS }
    : event;
};
