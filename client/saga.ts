/** One saga: what it did, its steps when it is interactive, and the ways back. */
import type { RequestOf } from '../contract/invoke.ts';
import type { RewindRequest } from '../contract/rewind.ts';
import { requireFields } from './given.ts';
import { fitId, freshId } from './ids.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import type { Answer, Asker, Request, RewindOf } from './requests.ts';

/** The request without `sagaId`, which is filled in. In a union of requests, each keeps its own fields. */
type Own<Given> = Given extends unknown ? Omit<Given, 'sagaId'> : never;

export type SubmitOptions = Omit<RequestOf<'submit-step'>, 'sagaId' | 'stepId'> & {
  /**
   * The same id again, with the same request, is the same step. Use the host's id of the call. Default: a new
   * one.
   */
  stepId?: string;
};

type CloseOptions = Own<Request<'close-saga'>> & {
  /** Seconds to wait. Default 60, at most 600; 0 does not wait. */
  waitSeconds?: number;
};

export type SagaRewindOptions = RewindOf<RewindRequest['saga']>;

/** A saga: what an agent does to other people's systems, so that it can be taken back. */
export interface Saga {
  readonly sagaId: string;
  /** What it did. With `waitSeconds`, waits that long for its end or a question. */
  describe(options?: Own<Request<'describe-saga'>>, call?: CallOptions): Promise<Answer<'describe-saga'>>;
  /** The next step of an interactive saga. Answers what became of it. A `stepId` is never done twice. */
  submit(step: SubmitOptions, call?: CallOptions): Promise<Answer<'submit-step'>>;
  /** Calls a tool that only reads. The call is not a step and is not in the ledger. */
  read(
    call: Pick<RequestOf<'call-tool'>, 'tool' | 'version' | 'arguments' | 'timeoutSeconds'>,
    options?: CallOptions,
  ): Promise<Answer<'call-tool'>>;
  /**
   * Ends an interactive saga: all of it stands, or all of it is taken back. Waits for this at most
   * `waitSeconds`, so that tools that you serve yourself stay up until it is done. `status` says whether it
   * is done.
   */
  close(options: CloseOptions, call?: CallOptions): Promise<Answer<'close-saga'>>;
  /**
   * Puts an interactive saga aside, with a summary for whoever goes on. The same `requestId` again takes no
   * further checkpoint. Default: a new one.
   */
  park(options: Own<Request<'park-saga'>>, call?: CallOptions): Promise<Answer<'park-saga'>>;
  /** Takes back its last steps. */
  rewind(options: SagaRewindOptions, call?: CallOptions): Promise<Answer<'rewind'>>;
  /** Takes back a finished saga. Operators only; `dryRun` answers the plan. */
  undo(
    options: Pick<RequestOf<'operate-saga'>, 'dryRun' | 'acceptResidue' | 'residue' | 'evidence'> & Asker,
    call?: CallOptions,
  ): Promise<Answer<'operate-saga'>>;
  /** Cancels or repairs it. */
  operate(options: Own<Request<'operate-saga'>>, call?: CallOptions): Promise<Answer<'operate-saga'>>;
  /** Answers an approval that it waits for. */
  answer(options: Own<Request<'answer'>>, call?: CallOptions): Promise<Answer<'answer'>>;
}

export const createSaga = (invoke: Invoke, sagaId: string): Saga => ({
  sagaId,
  describe: (options = {}, call) => invoke('describe-saga', { ...options, sagaId }, call),
  submit: async (given, call) => {
    requireFields('saga.submit', given, { tool: 'text', 'stepId?': 'text' });
    const { stepId = freshId('step'), ...step } = given;
    return invoke('submit-step', { ...step, sagaId, stepId: fitId(stepId) }, call);
  },
  read: (call, options) =>
    invoke('call-tool', { ...call, requestId: freshId('read'), requestedBy: sagaId }, options),
  close: async (given, call) => {
    requireFields('saga.close', given, { outcome: 'text', 'waitSeconds?': 'number' });
    const { waitSeconds = 60, ...options } = given;
    const closed = await invoke('close-saga', { ...options, sagaId }, call);
    if (waitSeconds === 0 || closed.status !== 'COMPENSATING') return closed;
    const { status } = await invoke('describe-saga', { sagaId, waitSeconds }, call);
    return { ...closed, status };
  },
  park: async (given, call) => {
    requireFields('saga.park', given, {});
    const { requestId = freshId('park'), ...options } = given;
    return invoke('park-saga', { ...options, sagaId, requestId }, call);
  },
  rewind: async (given, call) => {
    requireFields('saga.rewind', given, { to: 'object' });
    const { requestId = freshId('rewind'), ...options } = given;
    return invoke('rewind', { ...options, sagaId, requestId }, call);
  },
  undo: (options, call) => invoke('operate-saga', { ...options, sagaId, action: 'undo' }, call),
  operate: (options, call) => invoke('operate-saga', { ...options, sagaId }, call),
  answer: (options, call) => invoke('answer', { ...options, sagaId }, call),
});
