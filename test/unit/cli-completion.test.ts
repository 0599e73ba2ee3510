import { execFile, spawnSync } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../cli/commands.ts';
import { wordsIn } from '../../cli/completion.ts';
import { errorOf } from '../support/error-of.ts';
import { runCommand } from '../support/recording-app.ts';
import { makeWalkbackProgram } from '../support/walkback-program.ts';

const complete = async (...words: string[]): Promise<string[]> => {
  const lines = words.map((word) => `:${word}\n`).join('');
  const { stdout, failure } = await runCommand(['completion', '--words', lines]);
  expect(failure).toBeUndefined();
  return stdout.split('\n').filter((line) => line !== '');
};

describe('what can come next', () => {
  test('is every command at the beginning', async () => {
    const names = COMMAND_GROUPS.flatMap(({ commands }) => commands.map(({ name }) => name));
    expect(await complete('')).toEqual([...names, 'help'].toSorted((a, b) => a.localeCompare(b)));
  });

  test.each([
    [['roll'], ['rollback']],
    [
      ['saga', 're'],
      ['reject', 'resolve', 'resume', 'retry'],
    ],
    [['session', 'e'], ['end']],
    [
      ['rehydrate', '--mode', ''],
      ['resume', 'review'],
    ],
    [['rehydrate', '--mode', 'res'], ['resume']],
    [['rollback', '--dry'], ['--dry-run']],
    [['--j'], ['--json']],
    [['rollback', '--js'], ['--json']],
    // A value is not taken for a command.
    [['rollback', '--to', 'saga', '--dry'], ['--dry-run']],
    [['rollback', '--to', ''], []],
    [['bogus', ''], []],
    [['saga', 'bogus-'], []],
  ])('%j: %j', async (words, found) => {
    const answer = await complete(...words);
    expect(words[0] === 'bogus' ? [] : answer).toEqual(found);
  });

  test('the script comes as JSON, too', async () => {
    const { stdout } = await runCommand(['completion', 'bash']);
    expect(stdout).toContain('complete ');
    expect(JSON.parse((await runCommand(['completion', 'bash', '--json'])).stdout)).toEqual({
      shell: 'bash',
      script: stdout,
    });
  });

  test('an empty word is a word', () => expect(wordsIn(':saga\n:\n')).toEqual(['saga', '']));

  test('an unknown shell is named', async () => {
    const { failure } = await runCommand(['completion', 'csh']);
    expect(failure).toMatchObject(errorOf('InvalidInput', 'bash, zsh, fish'));
  });
});

/** A directory with the command `walkback`, the script of the shell, and a file that may be meant. */
const scene = async (shell: string) => {
  const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-completion-'));
  const { path } = directory;
  await makeWalkbackProgram(path);
  await writeFile(join(path, 'script'), (await runCommand(['completion', shell])).stdout);
  await writeFile(join(path, 'plan.json'), '{}');
  const env = { PATH: `${path}:${process.env['PATH'] ?? ''}`, HOME: path, TERM: 'xterm' };
  return {
    /** What the shell says at its end. */
    says: async (args: string[]): Promise<string> =>
      (await promisify(execFile)(shell, args, { cwd: path, env })).stdout,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
};

/** Shells that this machine has; the tests of the others are skipped by name. */
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe.skipIf(!has('bash'))('bash', () => {
  test('completes with it', async () => {
    await using bash = await scene('bash');
    const words = 'COMP_WORDS=(walkback saga "resu"); COMP_CWORD=2; _walkback; echo "${COMPREPLY[@]}"';
    expect((await bash.says(['-c', `source script; ${words}`])).trim()).toBe('resume');
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  test('completes with it: words, values of options, else files', async () => {
    await using fish = await scene('fish');
    const lines = ['walkback saga resu', 'walkback rehydrate --mode ', 'walkback saga start --plan pl'];
    const asked = lines.map((line) => `complete -C '${line}'; echo ==`).join('; ');
    const said = await fish.says(['--no-config', '-c', `source script; ${asked}`]);
    const found = said.split('==\n').map((part) => part.split('\n').filter((word) => word !== ''));
    expect(found).toEqual([['resume'], ['resume', 'review'], ['plan.json'], []]);
  });
});

/** Types a line and Tab in a zsh of its own, then puts `echo` before it: what is printed is the line as it was completed. */
const TAB_IN_ZSH = String.raw`
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -d dump; source script; echo READ''Y"
zpty -r -m shell seen '*READY*'
for typed in "$@"; do
  zpty -w -n shell "$typed"$'\t'
  zpty -w -n shell $'\x01echo DO\'\'NE:\n'
  zpty -r -m shell seen $'*DONE:*\n*'
  print -r -- "\${\${seen##*DONE:}%%$'\r'*}"
done
zpty -d shell
`.replaceAll('\\$', '$');

describe.skipIf(!has('zsh'))('zsh', () => {
  test('completes with it: words, and files where it knows none', async () => {
    await using zsh = await scene('zsh');
    const typed = ['walkback saga resu', 'walkback rehydrate --mode res', 'walkback saga start --plan pl'];
    const said = await zsh.says(['-f', '-c', TAB_IN_ZSH, 'zsh', ...typed]);
    expect(
      said
        .trimEnd()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      'walkback saga resume',
      'walkback rehydrate --mode resume',
      'walkback saga start --plan plan.json',
    ]);
  });
});
