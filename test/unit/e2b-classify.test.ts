import {
  AuthenticationError,
  FileNotFoundError,
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
import { describe, expect, test } from 'vitest';
import { classify } from '../../adapters/e2b/classify.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const withStatus = (statusCode: number): SandboxError =>
  Object.assign(new SandboxError(`${statusCode}: refused`), { statusCode });

const fetchFailed = (code: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

const retry = true;
const final = false;
const untouched = 'nothing-happened';
const unknown = 'unknown';

describe('what an error of the E2B SDK means', () => {
  test.each([
    ['API 429', new RateLimitError('slow down'), 'Throttled', retry, untouched],
    ['API 503', new ServiceBusyError('busy'), 'SandboxUnavailable', retry, untouched],
    ['API 500', withStatus(500), 'SandboxUnavailable', retry, unknown],
    ['API 502', withStatus(502), 'SandboxUnavailable', retry, unknown],
    ['API 504', withStatus(504), 'SandboxUnavailable', retry, unknown],
    [
      'API request timeout',
      new DOMException('timed out', 'TimeoutError'),
      'SandboxUnavailable',
      retry,
      unknown,
    ],
    ['API connect failure', fetchFailed('ECONNREFUSED'), 'SandboxUnavailable', retry, untouched],
    ['API name not found', fetchFailed('ENOTFOUND'), 'SandboxUnavailable', retry, untouched],
    ['API connection lost', fetchFailed('ECONNRESET'), 'SandboxUnavailable', retry, unknown],
    ['API 401', new AuthenticationError('no'), 'ConfigurationError', final, untouched],
    ['API 403', withStatus(403), 'ConfigurationError', final, untouched],
    ['create 400', withStatus(400), 'InvalidInput', final, untouched],
    ['create 404: no such template', withStatus(404), 'InvalidInput', final, untouched],
    ['connect 409: being killed', withStatus(409), 'SandboxUnavailable', retry, untouched],
    [
      'connect or getInfo 404',
      new SandboxNotFoundError('Sandbox x not found'),
      'SandboxNotFound',
      final,
      untouched,
    ],
    [
      'run: 502 before start',
      new SandboxNotFoundError('Sandbox is probably not running anymore'),
      'SandboxNotFound',
      final,
      untouched,
    ],
    [
      'run: dropped, sandbox dead',
      new TimeoutError('[unknown] terminated: The sandbox was killed or reached its end of life while x'),
      'SandboxNotFound',
      final,
      unknown,
    ],
    [
      'run: dropped, alive',
      new SandboxError('2: [unknown] terminated'),
      'SandboxUnavailable',
      retry,
      unknown,
    ],
    [
      'run: no end of stream',
      new SandboxError('13: missing EndStreamResponse'),
      'SandboxUnavailable',
      retry,
      unknown,
    ],
    [
      'run: no result',
      new SandboxError('Process exited without a result'),
      'SandboxUnavailable',
      retry,
      unknown,
    ],
    ['run: deadline', new TimeoutError('[deadline_exceeded] x'), 'SandboxUnavailable', retry, unknown],
    ['run: handshake timeout', new TimeoutError('[canceled] x'), 'SandboxUnavailable', retry, unknown],
    [
      'run: unavailable after start',
      new TimeoutError('[unavailable] x: This error is likely due to sandbox timeout.'),
      'SandboxUnavailable',
      retry,
      unknown,
    ],
    [
      'files: 502',
      new TimeoutError('The sandbox was not found: This error is likely due to sandbox timeout.'),
      'SandboxNotFound',
      final,
      untouched,
    ],
    ['files: no such file', new FileNotFoundError('gone'), 'SandboxChanged', retry, untouched],
    ['no such process', new NotFoundError('gone'), 'SandboxChanged', retry, untouched],
    [
      'run: cwd missing',
      new InvalidArgumentError("[invalid_argument] cwd '/x' does not exist"),
      'ProjectsRootNotFound',
      final,
      untouched,
    ],
    ['run: refused', new InvalidArgumentError('cwd'), 'InvalidInput', final, untouched],
    ['files: disk full', new NotEnoughSpaceError('full'), 'SandboxUnavailable', final, unknown],
    ['old template', new TemplateError('old'), 'SandboxUnsupported', final, untouched],
    ['transport', new TypeError('terminated'), 'SandboxUnavailable', retry, unknown],
    ['not an error at all', 'boom', 'SandboxUnavailable', retry, unknown],
  ])('%s', (_, error, name, retryable, outcome) => {
    const classified = classify(error, 'sbx1');
    expect(classified).toMatchObject({ name, retryable, details: { outcome, sandboxId: 'sbx1' } });
    expect(classified.cause).toBe(error);
    expect(classified.message).toMatch(/\.$|: cwd$/);
  });

  test('leaves our own errors as they are', () => {
    const own = new WalkbackError('InvalidInput', 'no');
    expect(classify(own)).toBe(own);
  });
});
