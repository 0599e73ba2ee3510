/**
 * Translates errors of the E2B SDK. Pure: class, status and message in, `WalkbackError` out. The SDK's
 * classes do not share one base and some failures carry only a message, so the order of the rules matters.
 */
import {
  AuthenticationError,
  InvalidArgumentError,
  NotEnoughSpaceError,
  NotFoundError,
  RateLimitError,
  SandboxError,
  SandboxNotFoundError,
  ServiceBusyError,
  TemplateError,
  TimeoutError,
} from 'e2b';
import type { ErrorName } from '../../contract/errors.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import {
  causeWithoutCommand,
  fileInTheWay,
  isOutOfProcesses,
  type RootTrouble,
  rootTrouble,
  statusIn,
  withoutCommand,
} from './daemon-words.ts';

/** `unknown`: the command may have run, or may still run. */
type Outcome = 'nothing-happened' | 'unknown';

interface Meaning {
  name: ErrorName;
  message: string;
  retryable: boolean;
  outcome: Outcome;
  /**
   * The answer was lost with the connection. An operation that is safe to repeat may be tried again at
   * once.
   */
  broken?: true;
}

const meaning = (name: ErrorName, retryable: boolean, outcome: Outcome, message: string): Meaning => ({
  name,
  message,
  retryable,
  outcome,
});

const gone = (outcome: Outcome): Meaning =>
  meaning(
    'SandboxNotFound',
    false,
    outcome,
    'The sandbox is gone or paused; rehydrate the session or resume it.',
  );

const unavailable = (outcome: Outcome, what: string): Meaning =>
  meaning('SandboxUnavailable', true, outcome, `${what}; try again.`);

const broke = (whose: string): Meaning => ({
  ...unavailable('unknown', `The connection to ${whose} broke`),
  broken: true,
});

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const codeOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
    ? value.code
    : undefined;

const ROOT_TROUBLE: Record<RootTrouble, string> = {
  missing:
    'The projects root is not in the sandbox any more. Make the directory again (mkdir -p), empty, then call again: a rollback brings back what was in it.',
  'not-a-directory':
    'The projects root is no directory in the sandbox. Move away what is there, make the directory again (mkdir -p), empty, then call again: a rollback brings back what was in it.',
  'not-enterable':
    'The projects root cannot be entered by the user of the sandbox. Give that user the right to (chmod u+rwx), then call again.',
};

/**
 * The daemon refused a command or a file. Its message may contain the command, so little of it is repeated.
 */
const ofRefusal = (words: string): Meaning => {
  const trouble = rootTrouble(words);
  if (trouble !== undefined)
    return meaning('ProjectsRootNotFound', false, 'nothing-happened', ROOT_TROUBLE[trouble]);
  if (isOutOfProcesses(words))
    return unavailable('nothing-happened', 'The sandbox could not start another process');
  return meaning(
    'InvalidInput',
    false,
    'nothing-happened',
    `The sandbox refused the request: ${withoutCommand(words)}`,
  );
};

const ofTimeout = (message: string): Meaning => {
  if (message.includes('was killed or reached its end of life')) return gone('unknown');
  if (message.startsWith('[deadline_exceeded]'))
    return unavailable('unknown', 'The command took longer than its timeout');
  if (message.startsWith('[')) return unavailable('unknown', 'The sandbox did not answer');
  // Files on a sandbox that its proxy does not know: 502 without a Connect code.
  if (message.includes('likely due to sandbox timeout')) return gone('nothing-happened');
  return unavailable('unknown', 'The sandbox did not answer in time');
};

const FULL = meaning(
  'SandboxUnavailable',
  false,
  'unknown',
  'The disk of the sandbox is full; free some space.',
);

const ofStatus = (status: number): Meaning => {
  if (status === 403)
    return meaning('ConfigurationError', false, 'nothing-happened', 'E2B refused the API key for this call.');
  if (status === 404)
    return meaning('InvalidInput', false, 'nothing-happened', 'E2B does not know the template.');
  if (status === 409) return unavailable('nothing-happened', 'The sandbox is changing its state');
  if (status === 429)
    return meaning('Throttled', true, 'nothing-happened', 'E2B limits the rate; try again later.');
  if (status === 503) return unavailable('nothing-happened', 'E2B is busy');
  if (status === 507) return FULL;
  if (status >= 500) return unavailable('unknown', `E2B answered ${status}`);
  return meaning('InvalidInput', false, 'nothing-happened', 'E2B refused the request.');
};

const ofSandboxError = (error: SandboxError): Meaning => {
  const file = fileInTheWay(error.message);
  if (file !== undefined)
    return meaning(
      'SandboxChanged',
      true,
      'nothing-happened',
      `A file is in the way in the sandbox: ${withoutCommand(file)}. Move it away, then call again.`,
    );
  const status = error.statusCode ?? statusIn(error.message);
  if (status !== undefined) return ofStatus(status);
  return broke('the sandbox');
};

const ofTransport = (error: unknown): Meaning => {
  const refused = error instanceof Error && NOT_CONNECTED.has(codeOf(error.cause) ?? '');
  return refused ? unavailable('nothing-happened', 'E2B could not be reached') : broke('E2B');
};

const meaningOf = (error: unknown): Meaning => {
  if (error instanceof AuthenticationError)
    return meaning(
      'ConfigurationError',
      false,
      'nothing-happened',
      'E2B refused the credentials; check the API key.',
    );
  if (error instanceof ServiceBusyError) return ofStatus(503);
  if (error instanceof RateLimitError) return ofStatus(429);
  if (error instanceof SandboxNotFoundError) return gone('nothing-happened');
  if (error instanceof NotFoundError)
    return meaning(
      'SandboxChanged',
      true,
      'nothing-happened',
      'A file or process is no longer in the sandbox.',
    );
  if (error instanceof InvalidArgumentError) return ofRefusal(error.message);
  if (error instanceof NotEnoughSpaceError) return FULL;
  if (error instanceof TemplateError)
    return meaning('SandboxUnsupported', false, 'nothing-happened', 'The template is too old; rebuild it.');
  if (error instanceof TimeoutError) return ofTimeout(error.message);
  if (error instanceof SandboxError) return ofSandboxError(error);
  return ofTransport(error);
};

/** `details.outcome` tells whether something may have happened; `details.sandboxId` when it is known. */
export const classify = (error: unknown, sandboxId?: string): WalkbackError => {
  if (error instanceof WalkbackError) return error;
  const { name, message, retryable, outcome, broken } = meaningOf(error);
  const details = { outcome, ...(broken && { broken }), ...(sandboxId === undefined ? {} : { sandboxId }) };
  return new WalkbackError(name, message, { cause: causeWithoutCommand(error), retryable, details });
};
