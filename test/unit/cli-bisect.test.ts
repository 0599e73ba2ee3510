/** `walkback bisect`: what it asks, shows and returns. */
import { expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import { bisectAnswer } from '../support/bisect-answer.ts';
import { runCommand } from '../support/recording-app.ts';

const WORDS = ['bisect', '--session', 's1', '--command', 'npm test', '--request', 'b1'];
const CHANGES = { sessionId: 's1', checkpoints: [] };

test('shows the message, the call, both outputs and what was tried, and nothing of it as an escape', async () => {
  const answers = { 'walkback-bisect-session': bisectAnswer(), 'walkback-changes': CHANGES };
  const { calls, stdout, failure } = await runCommand(
    [...WORDS, '--good', 'msg-1', '--bad', 'cp-00000009-0badcafe', '--repository', 'api', '--timeout', '9'],
    { answers },
  );
  expect(failure).toBeUndefined();
  expect(calls).toEqual([
    {
      name: 'walkback-bisect-session',
      input: {
        sessionId: 's1',
        command: 'npm test',
        good: 'msg-1',
        bad: 'cp-00000009-0badcafe',
        repository: 'api',
        timeoutSeconds: 9,
        requestId: 'b1',
      },
    },
    { name: 'walkback-changes', input: { sessionId: 's1', checkpointId: 'cp-00000007-0badcafe' } },
  ]);
  expect(stdout).toContain('cp-7 broke it (4 checkpoints of 12 tried).');
  expect(stdout).toMatch(/cp-7 of msg-3 {2}Make it.* <b>faster<\/b>/);
  expect(stdout).toContain('Bash sed -i <script> api/sum');
  expect(stdout).toMatch(/good at cp-6: exit code 0\n\s+no output\nbad at cp-7: exit code 1\n\s+expected 5/);
  expect(stdout).toMatch(/cp-4\s+skipped\s+no copy of it can be made \(BundleMissing\)/);
  expect(stdout).not.toContain('\u001b[2J');
  expect(stdout).not.toContain('\u001b[31m\n');
});

test('the merges that brought it are named, with the session that it is of', async () => {
  const [suspect] = bisectAnswer().suspects;
  if (suspect === undefined) throw new Error('no suspect');
  const answer = bisectAnswer({
    suspects: [{ ...suspect, sessionId: 'fork-1' }],
    bad: { ...bisectAnswer().bad, sessionId: 'fork-1' },
    through: [{ ...suspect, reason: 'merge', checkpointId: 'cp-00000009-0badcafe', madeBy: undefined }],
  });
  const { stdout } = await runCommand(WORDS, {
    answers: { 'walkback-bisect-session': answer, 'walkback-changes': new Error('gone') },
  });
  expect(stdout).toContain('cp-7 of fork-1 broke it (4 checkpoints tried).');
  expect(stdout).toMatch(/good at cp-6: .*\n.*\nbad at cp-7 of fork-1: exit code 1/);
  expect(stdout).toMatch(/cp-7 of fork-1 of msg-3/);
  expect(stdout).toMatch(/brought by\n\s+cp-9 of msg-3 {2}merged the work of another session\n/);
  expect(stdout.split('merged the work of another session')).toHaveLength(2);
});

test.each([
  ['what no checkpoint holds', ['--bad', 'now'], 'walkback checkpoint'],
  ['a command that is none', ['--command', ' '], '--command: give the command to run'],
])('%s is refused, with what to do', async (_, more, advice) => {
  const { failure, calls } = await runCommand([...WORDS, ...more], { answers: {} });
  expect(failure).toMatchObject({ name: 'InvalidInput', message: expect.stringContaining(advice) });
  expect(calls).toEqual([]);
});

test('only candidates: they are listed, and the exit code is 1', async () => {
  const answer = bisectAnswer({ outcome: 'candidates', suspectsNotListed: 3 });
  const { stdout, failure, calls } = await runCommand(WORDS, {
    answers: { 'walkback-bisect-session': answer },
  });
  expect(stdout).toContain('One of 4 checkpoints broke it');
  expect(stdout).toContain('and 3 more');
  expect(failure).toMatchObject({ name: 'OnlyCandidates', exitCode: 1 });
  expect(calls).toHaveLength(1);
});

test('with --json the answer, and what the found checkpoint changed', async () => {
  const answers = { 'walkback-bisect-session': bisectAnswer(), 'walkback-changes': CHANGES };
  const { stdout } = await runCommand([...WORDS, '--json'], { answers });
  expect(JSON.parse(stdout)).toEqual({ ...bisectAnswer(), changes: [] });
});

test('a call that ends before the search does is made again, with the same request', async () => {
  let asked = 0;
  const { calls, failure } = await runCommand(WORDS, {
    answers: {
      'walkback-bisect-session': () => {
        asked += 1;
        return asked < 3 ? new CliError('StillRunning', 'The search goes on.') : bisectAnswer();
      },
      'walkback-changes': CHANGES,
    },
  });
  expect(failure).toBeUndefined();
  const inputs = calls.filter(({ name }) => name === 'walkback-bisect-session').map(({ input }) => input);
  expect(inputs).toHaveLength(3);
  expect(new Set(inputs.map((input) => JSON.stringify(input))).size).toBe(1);
});

test('a good point that is bad: the error is named, and what the command wrote there is shown', async () => {
  const tried = [{ ...bisectAnswer().bad, checkpointId: 'cp-00000001-0badcafe' }, bisectAnswer().good];
  const { stderr, failure } = await runCommand(WORDS, {
    answers: {
      'walkback-bisect-session': new CliError(
        'GoodPointFails',
        'good: the command fails at cp-00000001-0badcafe already.',
      ),
      'walkback-progress': {
        progress: null,
        search: { tried, trying: 0, left: 9, at: '2026-01-02T10:00:00Z' },
      },
    },
  });
  expect(failure).toMatchObject({ name: 'GoodPointFails', exitCode: 1 });
  expect(stderr).toMatch(/bad at cp-1: exit code 1\n\s+expected 5/);
  expect(stderr).not.toContain('cp-6');
  expect(stderr).not.toContain('\u001b[31m\n');
});

test('what could not be read beside the answer is said', async () => {
  const found = await runCommand(WORDS, {
    answers: { 'walkback-bisect-session': bisectAnswer(), 'walkback-changes': new Error('no answer came') },
  });
  expect(found.failure).toBeUndefined();
  expect(found.stderr).toContain('What it changed could not be read: no answer came');
  const wrong = await runCommand(WORDS, {
    answers: {
      'walkback-bisect-session': new CliError('GoodPointFails', 'good: the command fails already.'),
      'walkback-progress': new Error('no answer came'),
    },
  });
  expect(wrong.failure).toMatchObject({ name: 'GoodPointFails' });
  expect(wrong.stderr).toContain('What the command wrote there could not be read: no answer came');
});

test('how far it is is drawn beside the seconds', async () => {
  const done = Promise.withResolvers<unknown>();
  let count = 0;
  const { stderr } = await runCommand(WORDS, {
    isDrawn: true,
    answers: {
      'walkback-bisect-session': () => done.promise,
      'walkback-changes': CHANGES,
      'walkback-progress': () => {
        count += 1;
        // By the second question, the answer to the first has been drawn.
        if (count === 2) done.resolve(bisectAnswer());
        const { tried } = bisectAnswer();
        return { progress: null, search: { tried, trying: 3, left: 5, at: '2026-01-02T10:00:00Z' } };
      },
    },
  });
  expect(stderr).toContain('Searching: 4 checkpoints tried, 3 at work, 5 left, cp-7 is bad');
});

test('an interruption says how to go on with the same search', async () => {
  const ended = new AbortController();
  const { failure } = await runCommand(WORDS, {
    signal: ended.signal,
    answers: {
      'walkback-bisect-session': () => {
        ended.abort(new CliError('Interrupted', 'Interrupted.'));
        return new Promise(() => undefined);
      },
    },
  });
  expect(failure).toMatchObject({
    name: 'Interrupted',
    hint: "walkback bisect --session s1 --command 'npm test' --timeout 300 --request b1 goes on with it",
  });
});

test('a command is required, and numbers are checked', async () => {
  expect((await runCommand(['bisect', '--session', 's1'])).failure).toMatchObject({ exitCode: 2 });
  expect((await runCommand([...WORDS, '--timeout', '0'])).failure).toMatchObject({ exitCode: 2 });
});
