/** Sagas that are undone while a provider is away, in simulated time. */
import type { CompensationRetry, ToolManifest } from '../../core/saga/model/tool.ts';
import type { Invoked } from '../../core/saga/ports.ts';
import { type HttpReply, readReply } from '../../core/saga/tools/http-response.ts';
import { plainTool } from './outage-tools.ts';
import {
  committed,
  lost,
  rejected,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from './scripted-saga.ts';

const missing = (what: string): never => {
  throw new Error(`there is no ${what}`);
};

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;

/** What manifests say that the kit makes now. */
export const DEFAULTS = plainTool.compensation?.retry ?? missing('policy of a compensator');
/** What those said that it made before. */
export const BEFORE: CompensationRetry = {
  maxAttempts: 3,
  backoffSeconds: 1,
  backoffRate: 2,
  maxBackoffSeconds: 60,
};

export const undoing = (
  name: string,
  retry: CompensationRetry = DEFAULTS,
  more: Partial<ToolManifest> = {},
) =>
  scriptedTool(name, 'compensatable', {
    compensation: { name: `undo_${name}`, timeoutSeconds: 10, retry },
    ...more,
  });

const http = (reply: HttpReply): Invoked => ({ Payload: readReply(reply, 0) });
export const status = (code: number, retryAfter?: string): Invoked =>
  http({ kind: 'answered', status: code, retryAfter, body: '' });

/** Ways in which a call does not work, while there is an outage. */
export const OUTAGES: Record<string, Invoked> = {
  'the tool refuses for now': rejected(true),
  'the tool asks for a minute': {
    Payload: {
      outcome: 'rejected',
      retryable: true,
      retryAfterSeconds: 60,
      error: { name: 'Busy', message: 'later' },
    },
  },
  'the answer is lost': lost,
  'the function is throttled': { Error: 'Lambda.TooManyRequestsException', Cause: 'Rate exceeded' },
  'the function is not there': {
    Error: 'Lambda.ResourceNotFoundException',
    Cause:
      'Function not found: arn:aws:lambda:eu-west-1:1:function:fn (Service: AWSLambda; Status Code: 404)',
  },
  'nobody listens at the endpoint': http({ kind: 'unsent', message: 'ECONNREFUSED' }),
  'the endpoint answers 404': status(404),
  'the endpoint answers 401': status(401),
  'the endpoint answers 429 and Retry-After': status(429, '30'),
  'the endpoint answers 503': status(503),
  'the endpoint answers 503 and Retry-After': status(503, '30'),
};

/** Four effects; the last step refuses. The compensator of `b` meets the outage, which begins when it is called first. */
export const unwinding = async (
  failure: Invoked,
  lastsMs: number,
  retry: CompensationRetry = DEFAULTS,
  more: Partial<ScriptedSagaOptions> = {},
) => {
  const undone: { step: string; atMs: number }[] = [];
  let sinceMs: number | undefined;
  const tools = [
    undoing('a', retry, { resourceKey: "'shared'" }),
    undoing('other', retry),
    undoing('b', retry, { resourceKey: "'shared'" }),
    undoing('c', retry),
    scriptedTool('last', 'irreversible'),
  ];
  const saga = await scriptedSaga({
    tools,
    answer: ({ operation, step }, clock) => {
      if (operation === 'execute') return step === 'last' ? rejected() : committed();
      if (step === 'b') {
        sinceMs ??= clock.nowMs();
        if (clock.nowMs() - sinceMs < lastsMs) return failure;
      }
      undone.push({ step, atMs: clock.nowMs() });
      return committed();
    },
    ...more,
  });
  const began = saga.clock.nowMs();
  await saga.begin();
  return {
    ...saga,
    undone,
    sinceMs: () => sinceMs ?? began,
    attempts: () => saga.requests.filter(({ step, operation }) => step === 'b' && operation === 'compensate'),
  };
};
