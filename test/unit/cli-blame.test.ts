/** `walkback blame`: what it asks, shows and returns. */
import { expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { blameAnswer } from '../support/blame-answer.ts';
import { errorOf } from '../support/error-of.ts';
import { runCommand } from '../support/recording-app.ts';

const WORDS = ['blame', 'api/src/price.ts', '--session', 's1'];
const answers = { 'walkback-blame': blameAnswer() };

test('shows who wrote each line, once for lines in a row, and nothing of it as an escape', async () => {
  const { calls, stdout, failure } = await runCommand(WORDS, { answers });
  expect(failure).toBeUndefined();
  expect(calls).toEqual([{ name: 'walkback-blame', input: { sessionId: 's1', path: 'api/src/price.ts' } }]);
  expect(stdout).toContain('src/<b>price<U+202E>.ts in api, as it is now, 6 lines\n');
  expect(stdout).toMatch(/^c{9} +Begin\^\[\[2J +1 {2}import '<img src=x onerror=alert\(1\)>';$/m);
  expect(stdout).toMatch(/^cp-7 +Make it\^\[\[2J <b>faster<\/b> +2 {2}\tconst a = 1;\^\[\[31m$/m);
  expect(stdout).toMatch(/^ +3 {2}const b = 2;<U\+202E>$/m);
  expect(stdout).toMatch(/^cp-2 of fork-1 +The work of no message +4 {2}\/\/ of the fork$/m);
  expect(stdout).toMatch(/^before +Before the session, not committed +5 {2}before … cut$/m);
  expect(stdout).toMatch(/^now +Round it +6 {2}now$/m);
  expect(stdout).toMatch(/^cp-7 +2 .* msg-3: Make it.* Edit src\/<i>price.ts \(as src\/old.ts\)$/m);
  expect(stdout).toMatch(/^cp-2 of fork-1 +1 .* Changed outside a recorded tool call$/m);
  for (const unseen of ['\u001b', '\u202e']) expect(stdout).not.toContain(unseen);
});

test('asks for what it was told, and answers it as JSON as it came', async () => {
  const { calls, stdout } = await runCommand(
    [...WORDS, '--at', 'msg-2', '--repository', 'api', '--lines', '10,40', '--sandbox', 'copy', '--json'],
    { answers },
  );
  expect(calls[0]?.input).toEqual({
    sessionId: 's1',
    path: 'api/src/price.ts',
    repository: 'api',
    at: 'msg-2',
    lines: { from: 10, to: 40 },
    sandboxId: 'copy',
  });
  expect(JSON.parse(stdout)).toEqual(blameAnswer());
});

test.each([
  ['7', { from: 7, to: 7 }],
  ['7,', { from: 7 }],
  ['7,9', { from: 7, to: 9 }],
])('--lines %s', async (text, lines) => {
  const { calls } = await runCommand([...WORDS, '--lines', text], { answers });
  expect(calls[0]?.input).toMatchObject({ lines });
});

test.each(['0', '9,7', ',4', 'a', '1,2,3', ''])(
  '--lines %j is wrong usage, and nothing is asked',
  async (text) => {
    const { calls, failure } = await runCommand([...WORDS, '--lines', text], { answers });
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      exitCode: 2,
      message: expect.stringContaining('10,40'),
    });
    expect(calls).toEqual([]);
  },
);

test('what the answer had no room for is said, with the command that shows it', async () => {
  const cut = { 'walkback-blame': blameAnswer({ totalLines: 9_000, nextLine: 7 }) };
  const { stdout } = await runCommand([...WORDS, '--lines', '1,8000', '--at', 'head'], { answers: cut });
  expect(stdout).toContain('lines 1 to 6 of 9000');
  expect(stdout).toContain(
    "… cut here: walkback blame 'src/<b>price<U+202E>.ts' --session s1 --repository api --at head --lines 7,8000",
  );
  const empty = { 'walkback-blame': blameAnswer({ totalLines: 0, lines: [], origins: [] }) };
  expect((await runCommand(WORDS, { answers: empty })).stdout).toContain('The file is empty.');
});

test('a path of this machine is one below the projects root, or refused by name', async () => {
  const all = { ...answers, 'walkback-timeline': { session: { projectsRoot: '/work' } } };
  const asked = async (path: string, cwd: string) =>
    (await runCommand(['blame', path, '--session', 's1'], { answers: all, cwd })).calls.at(-1)?.input;
  expect(await asked('./price.ts', '/work/api/src')).toMatchObject({ path: 'api/src/price.ts' });
  expect(await asked('../a.ts', '/work/api/src')).toMatchObject({ path: 'api/a.ts' });
  expect(await asked('/work/api/a.ts', '/')).toMatchObject({ path: 'api/a.ts' });
  const { failure, calls } = await runCommand(['blame', '../../../etc/passwd', '--session', 's1'], {
    answers: all,
    cwd: '/work/api',
  });
  expect(failure).toMatchObject(errorOf('InvalidInput', 'is outside of /work'));
  expect(calls).toHaveLength(1);
});

test('a path in the files of a fork, which are elsewhere on this machine, is below its root', async () => {
  const sandboxes = {
    places: async () => ({ rootfs: '/data/fork', mounts: {} }),
  } as unknown as LocalSandboxes;
  const { calls } = await runCommand(['blame', './a.ts', '--session', 's1'], {
    answers: { ...answers, 'walkback-timeline': { session: { projectsRoot: '/work', sandboxId: 'f' } } },
    cwd: '/data/fork/work/api',
    sandboxes,
  });
  expect(calls.at(-1)?.input).toMatchObject({ path: 'api/a.ts' });
});

test('where the sandbox is gone, a copy is looked at, and that is said', async () => {
  const inputs: unknown[] = [];
  const { stdout, calls } = await runCommand(WORDS, {
    answers: {
      'walkback-blame': (input: { sandboxId?: string }) => {
        inputs.push(input);
        return input.sandboxId === undefined ? new CliError('SandboxNotFound', 'gone') : blameAnswer();
      },
      'walkback-rehydrate': { sandboxId: 'copy-1', checkpointId: 'cp-00000009-0badcafe' },
    },
  });
  expect(calls.map(({ name }) => name)).toEqual(['walkback-blame', 'walkback-rehydrate', 'walkback-blame']);
  expect(inputs[1]).toMatchObject({ sandboxId: 'copy-1', at: 'cp-00000009-0badcafe' });
  expect(stdout).toContain('looked at in the review copy copy-1');
  expect(stdout).toContain('without what came after that checkpoint');
  const now = await runCommand([...WORDS, '--at', 'now'], {
    answers: { 'walkback-blame': new CliError('SandboxNotFound', 'gone') },
  });
  expect(now.failure).toMatchObject({ name: 'SandboxNotFound', exitCode: 3 });
});
