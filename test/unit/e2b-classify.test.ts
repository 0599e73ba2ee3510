import { inspect } from 'node:util';
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
import { buildScript } from '../../adapters/git/script.ts';
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
    [
      'run: the root is a file',
      new InvalidArgumentError(
        "[invalid_argument] error starting process '/bin/bash -l -c true': fork/exec /bin/sh: not a directory",
      ),
      'ProjectsRootNotFound',
      final,
      untouched,
    ],
    [
      'run: the root is a link to itself',
      new InvalidArgumentError(
        "[invalid_argument] error starting process '/bin/bash -l -c true': fork/exec /bin/sh: too many levels of symbolic links",
      ),
      'ProjectsRootNotFound',
      final,
      untouched,
    ],
    [
      'run: the root cannot be entered',
      new InvalidArgumentError(
        "[invalid_argument] error starting process '/bin/bash -l -c true': fork/exec /bin/sh: permission denied",
      ),
      'ProjectsRootNotFound',
      final,
      untouched,
    ],
    [
      'run: no room for a process',
      new InvalidArgumentError(
        "[invalid_argument] error starting process '/bin/bash -l -c true': fork/exec /bin/sh: resource temporarily unavailable",
      ),
      'SandboxUnavailable',
      retry,
      untouched,
    ],
    [
      'files: below a file, read',
      new SandboxError("500: error checking if path exists '/p/f/x': stat /p/f/x: not a directory"),
      'SandboxChanged',
      retry,
      untouched,
    ],
    [
      'files: below a file, written',
      new SandboxError('500: error ensuring directories: path is a file: /p/f'),
      'SandboxChanged',
      retry,
      untouched,
    ],
    ['files: 500', new SandboxError('500: error opening file: x'), 'SandboxUnavailable', retry, unknown],
    ['run: refused', new InvalidArgumentError('cwd'), 'InvalidInput', final, untouched],
    ['files: disk full', new NotEnoughSpaceError('full'), 'SandboxUnavailable', final, unknown],
    [
      'any call: disk full',
      new SandboxError('507: There is not enough disk space'),
      'SandboxUnavailable',
      final,
      unknown,
    ],
    ['old template', new TemplateError('old'), 'SandboxUnsupported', final, untouched],
    ['transport', new TypeError('terminated'), 'SandboxUnavailable', retry, unknown],
    ['not an error at all', 'boom', 'SandboxUnavailable', retry, unknown],
  ])('%s', (_, error, name, retryable, outcome) => {
    const classified = classify(error, 'sbx1');
    expect(classified).toMatchObject({ name, retryable, details: { outcome, sandboxId: 'sbx1' } });
    if (!(error instanceof InvalidArgumentError)) expect(classified.cause).toBe(error);
    expect(classified.message).toMatch(/\.$|: cwd$/);
  });

  test('holds no command, whatever the daemon repeats of it: not in message, details, causes or stacks', () => {
    const { command } = buildScript('capture', { WB_SECRET: 'secret words' }, { mark: 'm', timeoutMs: 1000 });
    const short = 'git log --format=secret';
    const classes = [
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
      Error,
      TypeError,
    ];
    const sayings = [
      (said: string) =>
        `error starting process '/bin/bash -l -c ${said}': fork/exec /bin/sh: not a directory`,
      (said: string) =>
        `[invalid_argument] error starting process '/bin/bash -l -c ${said}': fork/exec /bin/sh: why not`,
      (said: string) =>
        `error starting pty with command '/bin/bash -l -c ${said}' in dir '/x' with '80' cols and '24' rows: fork`,
    ];
    let seen = 0;
    for (const Class of classes)
      for (const say of sayings)
        for (const [said, trace] of [
          [command, 'WB_SECRET'],
          [`it's '${short}'`, 'secret'],
          [short, 'secret'],
        ] as const) {
          const error = new Class(say(said), { cause: new Error(say(said)) } as never);
          error.cause ??= new Error(say(said));
          const told = classify(error, 'sbx1');
          expect(told.message.length).toBeLessThan(400);
          expect(inspect(told, { depth: 10, showHidden: true })).not.toContain(trace);
          seen += 1;
        }
    expect(seen).toBe(13 * 3 * 3);
    const other = new InvalidArgumentError(`no idea what to do with ${command}`);
    expect(inspect(classify(other), { depth: 10 })).not.toContain('WB_SECRET');
  });

  test('repeats of a refusal what names no command', () => {
    const error = new InvalidArgumentError('path is a directory: /work');
    expect(classify(error).message).toBe('The sandbox refused the request: path is a directory: /work');
  });

  test('leaves our own errors as they are', () => {
    const own = new WalkbackError('InvalidInput', 'no');
    expect(classify(own)).toBe(own);
  });
});
