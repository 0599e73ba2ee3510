import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../cli/commands.ts';
import { wordsIn } from '../../cli/completion.ts';
import { PROJECT } from '../../local/template.ts';
import { runCommand } from '../support/recording-app.ts';

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
      ['reject', 'resolve', 'resume', 'retry', 'rewind'],
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

  test('an empty word is a word', () => expect(wordsIn(':saga\n:\n')).toEqual(['saga', '']));

  test('an unknown shell is named', async () => {
    const { failure } = await runCommand(['completion', 'csh']);
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringContaining('bash, zsh, fish'),
    });
  });
});

test('bash completes with it', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-completion-'));
  const script = join(directory.path, 'completion.bash');
  await writeFile(script, (await runCommand(['completion', 'bash'])).stdout);
  const words = 'COMP_WORDS=(walkback saga "rew"); COMP_CWORD=2; _walkback; echo "${COMPREPLY[@]}"';
  const command = `walkback() { ${process.execPath} ${join(PROJECT, 'bin/walkback.mjs')} "$@"; }; source ${script}; ${words}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', command]);
  expect(stdout.trim()).toBe('rewind');
});
