/** The client and the functions cannot drift (K1): every row of the contract as types, and against its schema. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { adviceInCode } from '../../client/advice.ts';
import {
  type Answer,
  errors,
  isWalkbackError,
  type Request,
  type Walkback,
  WalkbackError,
} from '../../client/index.ts';
import type { Session } from '../../client/session.ts';
import { type ClientFunction, patienceMs, TIMEOUT_SECONDS } from '../../client/timeouts.ts';
import { ERROR_NAMES, ERRORS, type ErrorName } from '../../contract/errors.ts';
import { type AnswerOf, FUNCTION_ROWS, inputOf } from '../../contract/functions.ts';

/** One request of each function; the compiler misses one that is not here. */
const REQUESTS: { readonly [Name in ClientFunction]: Request<Name> } = {
  'start-session': { sandboxId: 'sbx', projectsRoot: '/home/user' },
  checkpoint: { sessionId: 's', messageId: 'm', toolExecutionId: 't', reason: 'r' },
  rollback: { sessionId: 's', messageId: 'm', requestId: 'r' },
  revert: { sessionId: 's', messageId: 'm', requestId: 'r' },
  'fork-session': { sessionId: 's', requestId: 'r' },
  merge: { from: 'f', into: 's', requestId: 'r' },
  preflight: { sandboxId: 'sbx', projectsRoot: '/home/user' },
  'verify-commitments': {
    sessionId: 's',
    commitments: [{ id: 'tests', description: 'tests pass', command: 'npm test' }],
  },
  rehydrate: { sessionId: 's', messageId: 'm', mode: 'review' },
  'bisect-session': { sessionId: 's', command: 'npm test' },
  timeline: { sessionId: 's' },
  progress: { sessionId: 's' },
  context: { sessionId: 's' },
  diff: { sessionId: 's', from: 'm', to: 'now' },
  blame: { sessionId: 's', path: 'api/a.txt' },
  changes: { sessionId: 's', messageId: 'm' },
  'list-sessions': {},
  'search-sessions': { words: 'npm test' },
  'end-session': { sessionId: 's' },
  'list-copies': {},
  'delete-copy': { sandboxId: 'sbx' },
  'start-saga': { definition: { name: 'refund' }, input: {}, requestedBy: 'agent' },
  'submit-step': { sagaId: 's', stepId: 't', tool: 'x', arguments: { a: [1] } },
  'call-tool': { requestId: 'r', tool: 'x', arguments: {}, requestedBy: 'agent' },
  'park-saga': { sagaId: 's', summary: 'half' },
  'close-saga': { sagaId: 's', outcome: 'unwind' },
  'describe-saga': { sagaId: 's', projection: 'settled' },
  answer: { sagaId: 's', stepId: 't', decision: 'approve', by: 'Ada' },
  'operate-saga': { sagaId: 's', action: 'skip', stepId: 't', evidence: 'seen', by: 'Ada' },
  rewind: { sagaId: 's', to: { steps: 1 }, requestId: 'r', by: 'Ada' },
  'query-ledger': { sagaId: 's' },
  'anchor-ledger': {},
  'export-ledger': { from: '2026-03-01' },
  'list-sagas': { status: 'RUNNING' },
  'list-locks': {},
  'list-catalog': {},
  'put-catalog': { tools: [], definitions: [] },
  sweep: {},
};

const NAMES = Object.keys(REQUESTS) as ClientFunction[];

/** Requests that the schemas refuse; the compiler refuses each of them too, or this file does not compile. */
// biome-ignore format: the compiler's directive is about the next line only
const REFUSED: { readonly [Name in ClientFunction]?: readonly unknown[] } = {
  checkpoint: [
    // @ts-expect-error -- without the tool's id
    { sessionId: 's', messageId: 'm', reason: 'r' } satisfies Request<'checkpoint'>,
    // @ts-expect-error -- an unknown field
    { sessionId: 's', messageId: 'm', toolExecutionId: 't', reason: 'r', n: 1 } satisfies Request<'checkpoint'>,
  ],
  rollback: [
    // @ts-expect-error -- without a target
    { sessionId: 's', requestId: 'r' } satisfies Request<'rollback'>,
  ],
  rehydrate: [
    // @ts-expect-error -- with two targets
    { sessionId: 's', messageId: 'm', checkpointId: 'cp-00000001-0123abcd' } satisfies Request<'rehydrate'>,
    // @ts-expect-error -- a mode that there is not
    { sessionId: 's', mode: 'copy' } satisfies Request<'rehydrate'>,
  ],
  'submit-step': [
    // @ts-expect-error -- arguments that are no JSON
    { sagaId: 's', stepId: 't', tool: 'x', arguments: { a: () => 1 } } satisfies Request<'submit-step'>,
  ],
  rewind: [
    // @ts-expect-error -- a session with the target of a saga
    { sessionId: 's', to: { steps: 1 }, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
    // @ts-expect-error -- a saga with the target of a session
    { sagaId: 's', to: { messageId: 'm' }, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
    // @ts-expect-error -- both
    { sagaId: 's', sessionId: 's', to: { steps: 1 }, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
    // @ts-expect-error -- neither
    { to: { messageId: 'm' }, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
    // @ts-expect-error -- a saga with the epoch of a session
    { sagaId: 's', to: { steps: 1 }, epoch: 1, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
    // @ts-expect-error -- a session with a plan
    { sessionId: 's', to: { messageId: 'm' }, plan: {}, requestId: 'r', by: 'Ada' } satisfies Request<'rewind'>,
  ],
  answer: [
    // @ts-expect-error -- nobody
    { sagaId: 's', stepId: 't', decision: 'approve' } satisfies Request<'answer'>,
  ],
};

/** What the schema takes and the function refuses later: the type is narrower. */
// @ts-expect-error -- neither plan, template nor interactive
void ({ requestedBy: 'agent' } satisfies Request<'start-saga'>);
// @ts-expect-error -- without evidence
void ({ sagaId: 's', action: 'resolve', stepId: 't', by: 'Ada' } satisfies Request<'operate-saga'>);
// @ts-expect-error -- without the resource
void ({ sagaId: 's', action: 'break-lock', evidence: 'e', by: 'Ada' } satisfies Request<'operate-saga'>);

test('what says nothing does not compile', () => {
  type Given<Name extends keyof Session> = Session[Name] extends (...given: infer All) => unknown
    ? All[0]
    : never;
  expectTypeOf<undefined>().toExtend<Given<'checkpoint'>>();
  expectTypeOf<{ messageId: string }>().toExtend<Given<'checkpoint'>>();
  expectTypeOf<{ reason: string; tool: { name: string } }>().toExtend<Given<'checkpoint'>>();
  for (const empty of [
    (session: Session) =>
      // @ts-expect-error -- an empty object
      session.checkpoint({}),
    (session: Session) =>
      // @ts-expect-error -- an unknown field alone
      session.checkpoint({ message_id: 'm' }),
    (session: Session) =>
      // @ts-expect-error -- nothing to take back
      session.revert({}),
    (session: Session) =>
      // @ts-expect-error -- a message and checkpoints
      session.revert({ messageId: 'm', checkpointIds: ['cp-00000001-0123abcd'] }),
    (session: Session) =>
      // @ts-expect-error -- nowhere
      session.plan({}),
    (session: Session) =>
      // @ts-expect-error -- a call without its id and name
      session.run().before({}),
    (walkback: Walkback) =>
      // @ts-expect-error -- nothing to store
      walkback.tools.put({}),
    (walkback: Walkback) =>
      // @ts-expect-error -- neither a directory nor a sandbox
      walkback.sessions.start({}),
  ])
    expect(empty).toBeInstanceOf(Function);
});

describe.each(NAMES)('%s', (name) => {
  test('takes what its type takes', () =>
    expect(inputOf(name).safeParse(REQUESTS[name]).error).toBeUndefined());

  test.each(REFUSED[name] ?? [])('refuses %j', (request) => {
    expect(inputOf(name).safeParse(request).success).toBe(false);
  });

  test('is waited for longer than it runs', () => {
    const row = FUNCTION_ROWS.find((one) => one.name === name);
    expect(TIMEOUT_SECONDS[name]).toBe(row?.timeoutSeconds);
    expect(patienceMs(name)).toBeGreaterThanOrEqual((row?.timeoutSeconds ?? 900) * 1000 + 5000);
  });
});

test('is every function that somebody outside may call', () => {
  const outside = FUNCTION_ROWS.filter(
    ({ callers, input }) => input !== undefined && callers.some((one) => one !== 'internal'),
  );
  expect(NAMES.toSorted()).toEqual(outside.map(({ name }) => name).toSorted());
});

test('answers are typed by their rows', () => {
  expectTypeOf<Answer<'checkpoint'>>().toEqualTypeOf<AnswerOf<'checkpoint'>>();
  expectTypeOf<Answer<'checkpoint'>['seq']>().toEqualTypeOf<number>();
});

describe('errors', () => {
  test.each(ERROR_NAMES)('%s has a class with what the contract says of it', (name) => {
    const error = new errors[name]('what happened', { cause: 'why' });
    expect(error).toBeInstanceOf(WalkbackError);
    expect(error).toBeInstanceOf(Error);
    const { kind, retryable } = ERRORS[name];
    expect(error).toMatchObject({
      name,
      kind,
      retryable,
      advice: adviceInCode(name),
      message: 'what happened',
    });
    expect(error.cause).toBe('why');
    expect(isWalkbackError(error, name)).toBe(true);
  });

  test('a name narrows', () => {
    const error: unknown = new errors.StaleEpoch('old');
    if (!isWalkbackError(error, 'StaleEpoch')) throw new TypeError('not narrowed');
    expectTypeOf(error.name).toEqualTypeOf<'StaleEpoch'>();
    expectTypeOf<keyof typeof errors>().toEqualTypeOf<ErrorName>();
    expect(isWalkbackError(error, 'SessionEnded')).toBe(false);
    expect(isWalkbackError(new Error('x'))).toBe(false);
  });
});
