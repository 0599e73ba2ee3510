/** The classifier never calls a write a read (K2). */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isReadOnly } from '../../client/classify.ts';
import { isReadOnlyShell } from '../../client/classify-shell.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';
import { READS } from '../support/shell-reads.ts';
import { runReads } from '../support/shell-soup.ts';
import { MORE_WRITES, WRITES } from '../support/shell-writes.ts';

describe('shell commands', () => {
  test('the lists are long', () => {
    expect(READS.length).toBeGreaterThan(150);
    expect(WRITES.length).toBeGreaterThan(300);
  });

  test.each(READS)('reads: %s', (command) => expect(isReadOnlyShell(command)).toBe(true));
  test.each(WRITES)('writes: %s', (command) => expect(isReadOnlyShell(command)).toBe(false));
  test.each(MORE_WRITES.map((text) => [JSON.stringify(text).slice(0, 30), text]))(
    'writes: %s',
    (_, command) => expect(isReadOnlyShell(command)).toBe(false),
  );

  test.each([
    'walkback log --limit 20',
    'walkback diff msg-1 now | head',
    'walkback blame api/a.ts --lines 1,9',
    'walkback session list --all',
    'walkback copies list',
    'walkback saga show saga-1 && walkback ledger verify saga-1',
    'walkback rollback --to cp-2 --dry-run',
    'walkback undo --dry-run',
    'walkback --version',
  ])('lists or plans: %s', (command) => expect(isReadOnlyShell(command)).toBe(true));
  test.each([
    'walkback',
    'walkback log > file',
    'walkback rollback --to cp-2',
    'walkback rollback --to cp-2 --yes --path --dry-run',
    'walkback rollback -y --path --dry-run',
    'walkback rollback --to cp-2 --dry-run "$MORE"',
    'walkback undo --yes',
    'walkback clean --dry-run',
    'walkback copies delete --all --yes',
    'walkback session end s',
    'walkback mcp -- rm -rf .',
    'walkback constructor list',
    './walkback log',
    '/tmp/walkback log',
  ])('does something: %s', (command) => expect(isReadOnlyShell(command)).toBe(false));

  /** Places for a command in a script of reads. */
  const PLACES: readonly ((command: string) => string)[] = [
    (command) => command,
    (command) => `ls; ${command}`,
    (command) => `ls && ${command}`,
    (command) => `ls || ${command}`,
    (command) => `ls | ${command}`,
    (command) => `${command} | head`,
    (command) => `(${command})`,
    (command) => `{ ${command}; }`,
    (command) => `echo "$(${command})"`,
    (command) => `cat <(${command})`,
    (command) => `if ${command}; then ls; fi`,
    (command) => `for f in a b; do ${command}; done`,
    (command) => `while ${command}; do ls; done`,
    (command) => `case a in a) ${command};; esac`,
    (command) => `x=$(${command})`,
    (command) => `ls 2>/dev/null\n${command}\n`,
    (command) => `time ${command}`,
    (command) => `timeout 5 ${command}`,
    (command) => `command ${command}`,
    (command) => `ls | xargs ${command}`,
    (command) => `cat <<EOF\n$(${command})\nEOF`,
    (command) => `echo \${x:-$(${command})}`,
  ];
  const place = fc.constantFrom(...PLACES);
  const unknownWord = fc.stringMatching(/^[a-z][a-z0-9_.-]{2,11}$/).map((word) => `zz${word}`);
  const words = fc.array(
    fc.constantFrom('-l', 'a', '"$x"', "'b c'", '*.ts', '--version', '$y', '2>/dev/null'),
    {
      maxLength: 4,
    },
  );

  test('a script with an unknown command anywhere is a write', () => {
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 3 }),
        unknownWord,
        words,
        (places, word, args) => {
          const script = places.reduce((inner, put) => put(inner), [word, ...args].join(' '));
          expect(isReadOnlyShell(script), script).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a known write stays one in every place', () => {
    // A heredoc and a comment change what the text after them is.
    const simple = WRITES.filter((command) => !/\n|#|^'|^"|\(|\)|&&$|^\|\||^if |^\{/.test(command));
    expect(simple.length).toBeGreaterThan(250);
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(...simple),
        (places, command) => {
          const script = places.reduce((inner, put) => put(inner), command);
          expect(isReadOnlyShell(script), script).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('any text gets an answer', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(...'ls rm ;|&<>(){}$`"\'\\\n#*?[]=!-ax1'.split('')),
          maxLength: 40,
        }),
        (text) => {
          expect(typeof isReadOnlyShell(text)).toBe('boolean');
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('tools', () => {
  const READING: [string, unknown][] = [
    ['Read', { file_path: '/a' }],
    ['Glob', { pattern: '*' }],
    ['Grep', { pattern: 'x' }],
    ['Bash', { command: 'git status' }],
    ['bash', { command: 'ls', description: 'x' }],
    ['read', { filePath: '/a' }],
    ['shell', { command: ['bash', '-lc', 'ls | head'] }],
    ['shell', { command: ['ls', '-l', "it's"] }],
    ['exec_command', { cmd: 'ls' }],
    ['TodoWrite', { todos: [] }],
  ];
  const WRITING: [string, unknown][] = [
    ['Edit', { file_path: '/a' }],
    ['Write', { file_path: '/a' }],
    ['read', { path: '/a', content: 'x' }],
    ['Read', undefined],
    ['Read', 'text'],
    ['list', { name: 'new' }],
    ['Bash', { command: 'git commit' }],
    ['Bash', { command: 7 }],
    ['Bash', {}],
    ['shell', { command: ['bash', '-c', 'rm a'] }],
    ['shell', { command: ['bash', '-c', 'ls', 'rm'] }],
    ['shell', { command: ['bash', '-i'] }],
    ['shell', { command: ['ls', 7] }],
    ['shell', { command: ['env', 'rm', 'a'] }],
    ['shell', { command: ['find', '.', '-delete'] }],
    ['shell', { command: ['ls', ';', 'rm'] }],
    ['shell', { command: [] }],
    ['Task', { prompt: 'x' }],
    ['Agent', {}],
    ['get_order', { id: 1 }],
    ['mcp__x__read', { file_path: '/a' }],
    ['toString', {}],
    ['__proto__', {}],
    ['', {}],
  ];
  test.each(READING)('%s %j reads', (name, input) => expect(isReadOnly(name, input)).toBe(true));
  test.each(WRITING.filter(([, input]) => !/";"/.test(JSON.stringify(input) ?? '')))(
    '%s %j writes',
    (name, input) => expect(isReadOnly(name, input)).toBe(false),
  );
  test('words of a vector are words, whatever is in them', () => {
    expect(isReadOnly('shell', { command: ['ls', '; rm a', '$(rm a)', '> b'] })).toBe(true);
  });
});

test('what is called a read makes no file in a real bash', () => {
  const [scripts, least] = WHOLE ? [60_000, 1000] : [1500, 20];
  expect(runReads(chosenSeed(), scripts)).toBeGreaterThan(least);
});
