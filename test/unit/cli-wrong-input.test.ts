/** Wrong input is refused by its name, with a hint that fits it. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

describe('walkback ledger query --status', () => {
  test.each([
    [['--status', 'bogus'], /^choose one of .*COMPENSATION_FAILED.*rejected/],
    [['--status', 'stands'], /^effects have it: add --effects$/],
    [['--status', 'rejected', '--effects'], /^choose one of stands, /],
    [['--status', 'RUNNING', '--totals'], /^choose one of stands, /],
  ])('%j is refused, and nothing is asked', async (words, hint) => {
    for (const command of [['query'], ['export', 'ledger.csv']]) {
      const { calls, failure } = await runCommand(['ledger', ...command, ...words]);
      expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2, hint: expect.stringMatching(hint) });
      expect(calls).toEqual([]);
    }
  });

  test.each([['COMPENSATION_FAILED'], ['rejected'], ['stands', '--effects'], ['stands', '--tool', 'pay']])(
    '%s %s %s is asked for',
    async (...words) => {
      const answers = { 'walkback-query-ledger': { entries: [], effects: [] } };
      const { failure } = await runCommand(['ledger', 'query', '--status', ...words], { answers });
      expect(failure).toBeUndefined();
    },
  );
});

test.each([
  [['--day', '2026-01-02', '--saga', 's'], '--saga and --day do not go together.'],
  [['--effects', '--ref', 're_1', '--from', '2026-01-02'], '--ref and --from do not go together.'],
  [['--status', 'rejected', '--saga', 's'], '--saga and --status do not go together.'],
  [['--day', '2026-01-02', '--to', '2026-01-03'], '--day is one day: leave it out with --from and --to.'],
])('walkback ledger query and export: %j is refused by the names of the options', async (words, message) => {
  for (const command of [['query'], ['export', 'ledger.csv']]) {
    const { calls, failure } = await runCommand(['ledger', ...command, ...words]);
    expect(failure).toMatchObject({ name: 'InvalidInput', message });
    expect(calls).toEqual([]);
  }
});

test.each([
  [['trip', '--plan', '{'], 'the template trip and --plan do not go together.', /give one of them.*--id/],
  [
    ['trip', '--plan', '{}', '--interactive'],
    'the template trip and --plan and --interactive do not go together.',
    /give one of them/,
  ],
  [['--plan', '{'], '--plan is not JSON.', /@FILE/],
  [[], 'Give a template, --plan or --interactive.', /--help/],
  [['trip', '--allow', 'mail'], '--allow belongs to --interactive.', /approval/],
  [['trip', '--idle', '600'], '--idle belongs to --interactive.', /leave it out/],
  [['trip', '--on-idle', 'ask'], '--on-idle belongs to --interactive.', /leave it out/],
  [['--plan', '{}', '--on-idle', 'unwind'], '--on-idle belongs to --interactive.', /leave it out/],
])(
  'walkback saga start %j is refused, and says what is too much or missing',
  async (words, message, hint) => {
    const { calls, failure } = await runCommand(['saga', 'start', ...words]);
    expect(failure).toMatchObject({ name: 'InvalidInput', message, hint: expect.stringMatching(hint) });
    expect(calls).toEqual([]);
  },
);

test.each(['', 'session', 'saga', 'ledger', 'catalog', 'locks', 'tool'])(
  'walkback %s without a command is wrong input, which programs are told too',
  async (group) => {
    const words = group === '' ? [] : [group];
    const { failure, stdout, stderr } = await runCommand([...words, '--json']);
    expect(failure).toMatchObject({ name: 'InvalidInput', message: 'Name a command.', exitCode: 2 });
    expect({ stdout, stderr }, 'nothing but the error').toEqual({ stdout: '', stderr: '' });
    expect((await runCommand(words)).stderr).toContain('Usage: walkback');
  },
);

test.each([['help'], ['session', 'help'], ['help', 'session'], ['session', '--help'], ['--version']])(
  'walkback %s %s is what was asked for, and nothing more is said',
  async (...words) => {
    const { failure } = await runCommand(words);
    expect(failure ?? { message: '', exitCode: 0 }).toMatchObject({ message: '', exitCode: 0 });
  },
);

test('a session that is no fork has nowhere to go to by itself', async () => {
  const answers = { 'walkback-timeline': { session: { sessionId: 's' }, checkpoints: [] } };
  const { calls, failure } = await runCommand(['merge', 's', '--yes'], { answers });
  expect(failure).toMatchObject({
    name: 'InvalidInput',
    message: 'Session s is no fork, so nothing says where its work comes into.',
    hint: expect.stringContaining('--into'),
  });
  expect(calls.map(({ name }) => name)).toEqual(['walkback-timeline']);
});

test('an empty name signs nobody in', async () => {
  const { failure } = await runCommand(['login', '--as', ' ']);
  expect(failure).toMatchObject({ name: 'InvalidInput', message: '--as names nobody.' });
});

describe('a file', () => {
  const fileWith = async (content: string) => {
    const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-input-'));
    const file = join(directory.path, 'input.json');
    await writeFile(file, content);
    return { file, [Symbol.asyncDispose]: () => directory.remove() };
  };

  test('of commitments that is no JSON is told so, without an @ that is not taken', async () => {
    await using input = await fileWith('{');
    const { failure } = await runCommand(['verify-commitments', input.file, '--session', 's']);
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: `${input.file} is not JSON.`,
      hint: 'name a file that holds JSON',
    });
  });

  test('of a catalog that is empty stores nothing, and that is said', async () => {
    await using input = await fileWith('{}');
    const answers = { 'walkback-put-catalog': { versions: [], warnings: [] } };
    const { stdout } = await runCommand(['catalog', 'put', input.file], { answers });
    expect(stdout).toBe(`Nothing was stored: ${input.file} is empty.\n`);
  });
});

test.each([
  [['bogus'], 'walkback --help lists them'],
  [['saga', 'bogus'], 'walkback saga --help lists them'],
  [['--bogus'], 'walkback --help says what it takes'],
  [['log', '--bogus'], 'walkback log --help says what it takes'],
  [['log', '--limit'], 'walkback log --help says what it takes'],
  [['log', '--limit', 'x'], 'walkback log --help says what it takes'],
  [['log', 'x'], 'walkback log --help says what it takes'],
  [['saga', 'show'], 'walkback saga show --help says what it takes'],
  [['saga', 'skip', 's-1', 'pay'], 'walkback saga skip --help says what it takes'],
  [['ledger', 'query', '--totals', '--effects'], 'walkback ledger query --help says what it takes'],
])('%j is told where to look', async (words, hint) => {
  const { failure, calls } = await runCommand(words);
  expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2, hint });
  expect(calls).toEqual([]);
});
