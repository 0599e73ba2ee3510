/** Commands of checkpoints and sessions: what each asks, and how it ends. */
import { describe, expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import { runCommand, SANDBOXES as sandboxes } from '../support/recording-app.ts';

const CHECKPOINT = {
  checkpointId: 'cp-00000002-0badcafe',
  seq: 2,
  epoch: 1,
  messageId: 'msg-1',
  complete: true,
  repositories: [{ path: 'api', changed: true, bundleBytes: 10 }],
  failures: [],
  skipped: [],
};

describe('walkback checkpoint', () => {
  test('of what cannot be captured in full it shows, and fails by the table', async () => {
    const failures = [{ path: 'web', reason: 'no access' }];
    const { stdout, failure } = await runCommand(['checkpoint', '--session', 's', '--message', 'm'], {
      answers: { 'walkback-checkpoint': { ...CHECKPOINT, complete: false, failures } },
    });
    expect(stdout).toMatch(/incomplete:[^]*missing +web: no access/);
    expect(failure).toMatchObject({ name: 'CheckpointIncomplete', exitCode: 6 });
  });

  test('asks with what was given, and a fresh tool id', async () => {
    const { calls, stdout, failure } = await runCommand(
      ['checkpoint', '--session', 's', '--message', 'msg-1', '--epoch', '3'],
      { answers: { 'walkback-checkpoint': CHECKPOINT } },
    );
    expect(failure).toBeUndefined();
    expect(calls).toEqual([
      {
        name: 'walkback-checkpoint',
        input: {
          sessionId: 's',
          messageId: 'msg-1',
          toolExecutionId: expect.stringMatching(/^cli-[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}$/),
          reason: 'manual',
          epoch: 3,
        },
      },
    ]);
    expect(stdout).toBe('✔ cp-2 cp-00000002-0badcafe of msg-1: 1 of 1 repository changed\n  api  10 B\n');
  });

  test('says whose tool call comes next, and answers whose work is there', async () => {
    const { calls, stdout } = await runCommand(
      ['checkpoint', '-s', 's', '--for', 'msg-2', '--tool', 'call-1'],
      {
        answers: { 'walkback-checkpoint': CHECKPOINT },
      },
    );
    const input = { sessionId: 's', forMessageId: 'msg-2', toolExecutionId: 'call-1', reason: 'manual' };
    expect(calls).toEqual([{ name: 'walkback-checkpoint', input }]);
    expect(stdout).toContain('of msg-1: ');
  });

  test('answers JSON and nothing else with --json, before or after the command', async () => {
    for (const argv of [
      ['--json', 'checkpoint', '-s', 's', '-m', 'm'],
      ['checkpoint', '-s', 's', '-m', 'm', '--json'],
    ]) {
      const { stdout, stderr } = await runCommand(argv, { answers: { 'walkback-checkpoint': CHECKPOINT } });
      expect(JSON.parse(stdout)).toEqual(CHECKPOINT);
      expect(stderr).toBe('');
    }
  });

  test.each([
    [['checkpoint', '--session', 's'], 'Give --message, whose work is there, or --for'],
    [['checkpoint', '-s', 's', '-m', '../x'], 'Use up to 64 letters'],
    [['checkpoint', '-s', 's', '-m', 'm', '--epoch', 'soon'], 'whole number'],
    [['checkpoint', '-s', 's', '-m', 'm', '--nope'], "unknown option '--nope'"],
    [['chekpoint'], "unknown command 'chekpoint'"],
    [['rehydrate', '-s', 's', '--mode', 'both'], 'review, resume'],
  ])('%j is wrong usage', async (argv, message) => {
    const { failure, calls, stdout } = await runCommand(argv);
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(failure?.message).toContain(message);
    expect([calls, stdout]).toEqual([[], '']);
  });
});

describe('the exit code', () => {
  test.each([
    ['InvalidInput', 2],
    ['SessionNotFound', 3],
    ['MessageNotFound', 3],
    ['StaleEpoch', 4],
    ['RollbackInProgress', 4],
    ['StorageUnavailable', 5],
    ['Throttled', 5],
    ['BundleCorrupt', 6],
    ['ConfigurationError', 7],
    ['RestoreFailed', 1],
    ['InternalError', 1],
    ['toString', 1],
  ])('of %s is %i', async (name, code) => {
    const { failure } = await runCommand(['context', '-s', 's'], {
      answers: { 'walkback-context': new CliError(name, 'because') },
    });
    expect(failure).toMatchObject({ name, message: 'because', exitCode: code });
  });

  test('of --help and --version is 0', async () => {
    const help = await runCommand(['--help']);
    expect(help.failure?.exitCode).toBe(0);
    expect(help.stdout).toContain('Exit codes:');
    const version = await runCommand(['--version']);
    expect([version.failure?.exitCode, version.stdout]).toEqual([0, '0.1.0\n']);
  });
});

describe('the default session', () => {
  const session = (sessionId: string, projectsRoot: string, createdAt: string, status = 'active') => ({
    sessionId,
    projectsRoot,
    createdAt,
    status,
  });
  const answers = {
    'walkback-context': { prompt: 'You work in api.', repositories: [], directories: [] },
    'walkback-list-sessions': {
      sessions: [
        session('older', '/work', '2026-01-01'),
        session('newer', '/work', '2026-01-02'),
        session('ended', '/work', '2026-01-03', 'ended'),
        session('beside', '/workshop', '2026-01-04'),
      ],
    },
  };

  test('is the newest running one whose root holds the current directory', async () => {
    const { calls, stdout } = await runCommand(['context'], { answers, sandboxes, cwd: '/work/api/src' });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'newer' } });
    expect(stdout).toBe('You work in api.\n');
  });

  test.each(['/work', '/work/..drafts', '/work/...'])('is found in %s too', async (cwd) => {
    const { calls } = await runCommand(['context'], { answers, sandboxes, cwd });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'newer' } });
  });

  test('is WALKBACK_SESSION when that is set, and --session above all', async () => {
    const env = { WALKBACK_SESSION: 'mine' };
    const set = await runCommand(['context'], { answers, sandboxes, env });
    expect(set.calls).toEqual([{ name: 'walkback-context', input: { sessionId: 'mine' } }]);
    const asked = await runCommand(['context', '-s', 'this'], { answers, sandboxes, env });
    expect(asked.calls).toEqual([{ name: 'walkback-context', input: { sessionId: 'this' } }]);
  });

  test('is the only one that runs, elsewhere, and says so', async () => {
    const sessions = [
      session('ended', '/work', '2026-01-03', 'ended'),
      session('only', '/work', '2026-01-01'),
    ];
    const { calls, stderr } = await runCommand(['context'], {
      answers: { ...answers, 'walkback-list-sessions': { sessions } },
      sandboxes,
      cwd: '/tmp',
    });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'only' } });
    expect(stderr).toContain('session only, the only one that runs, of /work');
  });

  test('is missed with a hint where several run elsewhere, where none runs, and on AWS', async () => {
    const elsewhere = await runCommand(['context'], { answers, sandboxes, cwd: '/tmp' });
    expect(elsewhere.failure).toMatchObject({
      name: 'SessionNotFound',
      exitCode: 3,
      message: 'Several sessions run, and none has /tmp in its root.',
    });
    const none = await runCommand(['context'], {
      answers: { ...answers, 'walkback-list-sessions': { sessions: [] } },
      sandboxes,
    });
    expect(none.failure).toMatchObject({
      name: 'SessionNotFound',
      hint: 'start one with walkback session start --root DIR',
    });
    const onAws = await runCommand(['context'], { answers });
    expect(onAws.failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
  });
});

describe('files that are named on the command line', () => {
  test.each([
    ['saga', 'start', 'refund', '--by', 'me', '--input', '@/nonexistent/input.json'],
    ['saga', 'submit', 's-1', 'call-1', '--tool', 'pay', '--arguments', '@/nonexistent/input.json'],
    ['tool', 'call', 'pay', '--request', 'r-1', '--arguments', '@/nonexistent/input.json'],
    ['catalog', 'put', '/nonexistent/catalog.json'],
    ['verify-commitments', '/nonexistent/commitments.json', '--session', 's'],
    ['ledger', 'verify', 's-1', '--public-key', '/nonexistent/key.pem'],
  ])('%s %s: one that cannot be read is named, and nothing is asked', async (...words) => {
    const { calls, failure } = await runCommand(words);
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^\/nonexistent\/\S+ cannot be read: ENOENT/),
      exitCode: 2,
    });
    expect(calls).toEqual([]);
  });

  test.each([
    ['saga', 'start', 'refund', '--by', 'me', '--input', '@'],
    ['catalog', 'put', ''],
    ['verify-commitments', '', '--session', 's'],
    ['ledger', 'verify', 's-1', '--public-key', ''],
    ['ledger', 'export', '', '--day', '2026-01-31'],
    ['up', '--functions', ''],
    ['rollback', '--to', 'm', '--path', '', '--session', 's'],
    ['revert', '--path', '', '--session', 's'],
    ['merge', 'fork', '--path', ''],
  ])('%s %s: one without a name is refused as that', async (...words) => {
    const { failure } = await runCommand(words, { answers: { 'walkback-query-ledger': { entries: [] } } });
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^(?!.*ENOENT).*\bempty\.$/),
      exitCode: 2,
    });
  });

  test('one that cannot be written is named', async () => {
    const words = ['ledger', 'export', '/nonexistent/ledger.csv', '--day', '2026-01-31'];
    const { failure } = await runCommand(words, { answers: { 'walkback-query-ledger': { entries: [] } } });
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^\/nonexistent\/ledger\.csv cannot be written: ENOENT/),
    });
  });
});

test.each([
  ['rehydrate -s s', 'walkback-rehydrate'],
  ['fork -s s', 'walkback-fork-session'],
  ['saga park sg --summary done', 'walkback-park-saga'],
  ['saga start refund --by me', 'walkback-start-saga', 'sagaId', 'id'],
  ['saga start --plan {"steps":[]} --inline --by me', 'walkback-start-saga', 'sagaId', 'id'],
  ['session start --sandbox sbx --root /home/user/projects', 'walkback-start-session', 'sessionId', 'id'],
])('%s: an interrupt tells the id without which the same words would begin another', async (...row) => {
  const [words, name, member = 'requestId', option = 'request'] = row;
  const interrupted = new AbortController();
  const requests: unknown[] = [];
  const never = (input: object): Promise<never> => {
    requests.push(Reflect.get(input, member));
    interrupted.abort(new CliError('Interrupted', 'Interrupted.'));
    return Promise.withResolvers<never>().promise;
  };
  const { failure } = await runCommand(words.split(' '), {
    signal: interrupted.signal,
    answers: { [name]: never },
  });
  expect(failure).toMatchObject({
    exitCode: 130,
    message: `Interrupted. It may be done, begun or neither: ${option} ${String(requests[0])}.`,
    hint: `the same command with --${option} ${String(requests[0])} finishes it`,
  });
});
