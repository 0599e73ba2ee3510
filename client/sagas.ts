/** Starts sagas, finds them again, and lists them. */

import type { RequestOf } from '../contract/invoke.ts';
import type { SagaSummary } from '../contract/saga-lists.ts';
import { allLocks, allOnce } from './all-once.ts';
import { requireFields } from './given.ts';
import { freshId } from './ids.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import type { Answer, Request } from './requests.ts';
import type { Run } from './run.ts';
import { createSaga, type Saga } from './saga.ts';

interface Belonging {
  /** The turn whose work the saga is: a rollback to before it names its effects. */
  run?: Pick<Run, 'sessionId' | 'messageId'>;
  /** Who asks for it. Default `agent`. */
  requestedBy?: string;
  /** The same id again, with the same request, starts nothing new. Default: a new one. */
  sagaId?: string;
}

type Start = RequestOf<'start-saga'>;
/** The fields that are left, with those about whoever starts the saga. */
type StartWithout<Names extends keyof Start> = Omit<Start, Names | 'requestedBy' | 'sagaId'> & Belonging;

/** A template of the catalog, or a plan of its own. */
export type StartSagaOptions = StartWithout<'definition' | 'plan' | 'interactive'> &
  (
    | { definition: NonNullable<Start['definition']>; plan?: never }
    | { definition?: never; plan: Exclude<Start['plan'], undefined> }
  );

/** A saga whose steps are submitted one by one. */
export type InteractiveOptions = StartWithout<'definition' | 'plan' | 'interactive' | 'input'> &
  Partial<NonNullable<Start['interactive']>>;

export interface Sagas {
  /** Starts a saga with a plan. */
  start(options: StartSagaOptions, call?: CallOptions): Promise<Saga>;
  /** Starts a saga whose steps are submitted one by one. After an hour without a step it is taken back. */
  interactive(options?: InteractiveOptions, call?: CallOptions): Promise<Saga>;
  /** A saga that was started before. This sends no request yet. */
  get(sagaId: string): Saga;
  /** All sagas, each once. Those that need a person come first. */
  list(options?: Pick<Request<'list-sagas'>, 'status'>, call?: CallOptions): Promise<SagaSummary[]>;
  /**
   * Who holds which resource, and who waits. Answers all of them; with `limit` or `cursor` one
   * page.
   */
  locks(options?: Request<'list-locks'>, call?: CallOptions): Promise<Answer<'list-locks'>>;
}

const RUN = { 'run?': 'object' } as const;

/** The fields that the functions need for a run and a starter. */
const belonging = ({ run, requestedBy = 'agent', sagaId = freshId('saga') }: Belonging) => ({
  sagaId,
  requestedBy,
  ...(run === undefined ? {} : { sessionId: run.sessionId, messageId: run.messageId }),
});

export const createSagas = (invoke: Invoke): Sagas => ({
  start: async (options, call) => {
    requireFields('sagas.start', options, RUN);
    const { run, requestedBy, sagaId, ...rest } = options;
    const request = { ...belonging({ run, requestedBy, sagaId }), ...rest };
    const started = await invoke('start-saga', request, call);
    return createSaga(invoke, started.sagaId);
  },
  interactive: async (options = {}, call) => {
    requireFields('sagas.interactive', options, RUN);
    const { run, requestedBy, sagaId, onIdle = 'unwind', ...others } = options;
    const { idleTimeoutSeconds, approvalTimeoutSeconds, allowIrreversible, ...rest } = others;
    const interactive = { onIdle, idleTimeoutSeconds, approvalTimeoutSeconds, allowIrreversible };
    const request = { ...belonging({ run, requestedBy, sagaId }), ...rest, interactive };
    const started = await invoke('start-saga', request, call);
    return createSaga(invoke, started.sagaId);
  },
  get: (sagaId) => {
    requireFields('sagas.get', { sagaId }, { sagaId: 'text' });
    return createSaga(invoke, sagaId);
  },
  list: async (options = {}, call) => {
    return allOnce<SagaSummary>(
      async (cursor) => {
        const answer = await invoke('list-sagas', { ...options, limit: 200, cursor }, call);
        return { items: answer.sagas, cursor: answer.cursor };
      },
      ({ sagaId }) => sagaId,
    );
  },
  locks: async (options = {}, call) => {
    if (options.limit !== undefined || options.cursor !== undefined)
      return invoke('list-locks', options, call);
    return { locks: await allLocks((cursor) => invoke('list-locks', { ...options, cursor }, call)) };
  },
});
