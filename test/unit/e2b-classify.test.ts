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
import { callText } from '../../adapters/git/program/command.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const withStatus = (statusCode: number): SandboxError =>
  Object.assign(new SandboxError(`${statusCode}: refused`), { statusCode });

const fetchFailed = (code: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

const notStarted = (why: string): InvalidArgumentError =>
  new InvalidArgumentError(
    `[invalid_argument] error starting process '/bin/bash -l -c true': fork/exec /bin/sh: ${why}`,
  );

const retry = true;
const final = false;
const untouched = 'nothing-happened';
const unknown = 'unknown';
const LOST = ['SandboxUnavailable', retry, unknown] as const;
const NOT_REACHED = ['SandboxUnavailable', retry, untouched] as const;
const GONE = ['SandboxNotFound', final, untouched] as const;
const NO_ROOT = ['ProjectsRootNotFound', final, untouched] as const;
const CHANGED = ['SandboxChanged', retry, untouched] as const;
const CONFIGURED = ['ConfigurationError', final, untouched] as const;
const REFUSED = ['InvalidInput', final, untouched] as const;
const FULL = ['SandboxUnavailable', final, unknown] as const;

describe('what an error of the E2B SDK means', () => {
  test.each([
    ['API 429', new RateLimitError('slow down'), 'Throttled', retry, untouched],
    ['API 503', new ServiceBusyError('busy'), ...NOT_REACHED],
    ['API 500', withStatus(500), ...LOST],
    ['API 502', withStatus(502), ...LOST],
    ['API 504', withStatus(504), ...LOST],
    ['API request timeout', new DOMException('timed out', 'TimeoutError'), ...LOST],
    ['API connect failure', fetchFailed('ECONNREFUSED'), ...NOT_REACHED],
    ['API name not found', fetchFailed('ENOTFOUND'), ...NOT_REACHED],
    ['API connection lost', fetchFailed('ECONNRESET'), ...LOST],
    ['API 401', new AuthenticationError('no'), ...CONFIGURED],
    ['API 403', withStatus(403), ...CONFIGURED],
    ['create 400', withStatus(400), ...REFUSED],
    ['create 404: no such template', withStatus(404), ...REFUSED],
    ['connect 409: being killed', withStatus(409), ...NOT_REACHED],
    ['connect or getInfo 404', new SandboxNotFoundError('Sandbox x not found'), ...GONE],
    ['run: 502 before start', new SandboxNotFoundError('Sandbox is probably not running anymore'), ...GONE],
    [
      'run: dropped, sandbox dead',
      new TimeoutError('[unknown] terminated: The sandbox was killed or reached its end of life while x'),
      'SandboxNotFound',
      final,
      unknown,
    ],
    ['run: dropped, alive', new SandboxError('2: [unknown] terminated'), ...LOST],
    ['run: no end of stream', new SandboxError('13: missing EndStreamResponse'), ...LOST],
    ['run: no result', new SandboxError('Process exited without a result'), ...LOST],
    ['run: deadline', new TimeoutError('[deadline_exceeded] x'), ...LOST],
    ['run: handshake timeout', new TimeoutError('[canceled] x'), ...LOST],
    [
      'run: unavailable after start',
      new TimeoutError('[unavailable] x: This error is likely due to sandbox timeout.'),
      ...LOST,
    ],
    [
      'files: 502',
      new TimeoutError('The sandbox was not found: This error is likely due to sandbox timeout.'),
      ...GONE,
    ],
    ['files: no such file', new FileNotFoundError('gone'), ...CHANGED],
    ['no such process', new NotFoundError('gone'), ...CHANGED],
    ['run: cwd missing', new InvalidArgumentError("[invalid_argument] cwd '/x' does not exist"), ...NO_ROOT],
    ['run: the root is a file', notStarted('not a directory'), ...NO_ROOT],
    ['run: the root is a link to itself', notStarted('too many levels of symbolic links'), ...NO_ROOT],
    ['run: the root cannot be entered', notStarted('permission denied'), ...NO_ROOT],
    ['run: no room for a process', notStarted('resource temporarily unavailable'), ...NOT_REACHED],
    [
      'files: below a file, read',
      new SandboxError("500: error checking if path exists '/p/f/x': stat /p/f/x: not a directory"),
      ...CHANGED,
    ],
    [
      'files: below a file, written',
      new SandboxError('500: error ensuring directories: path is a file: /p/f'),
      ...CHANGED,
    ],
    ['files: 500', new SandboxError('500: error opening file: x'), ...LOST],
    ['run: refused', new InvalidArgumentError('cwd'), ...REFUSED],
    ['files: disk full', new NotEnoughSpaceError('full'), ...FULL],
    ['any call: disk full', new SandboxError('507: There is not enough disk space'), ...FULL],
    ['old template', new TemplateError('old'), 'SandboxUnsupported', final, untouched],
    ['transport', new TypeError('terminated'), ...LOST],
    ['not an error at all', 'boom', ...LOST],
  ])('%s', (_, error, name, retryable, outcome) => {
    const classified = classify(error, 'sbx1');
    expect(classified).toMatchObject({ name, retryable, details: { outcome, sandboxId: 'sbx1' } });
    if (!(error instanceof InvalidArgumentError)) expect(classified.cause).toBe(error);
    expect(classified.message).toMatch(/\.$|: cwd$/);
  });

  test('holds no command, whatever the daemon repeats of it: not in message, details, causes or stacks', () => {
    const build = { digests: { x86_64: 'a'.repeat(64), aarch64: 'b'.repeat(64) } };
    const command = callText({ request: { text: '{"secret":"secret words"}' }, mark: 'm', build });
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
