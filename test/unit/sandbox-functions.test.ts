/** Functions of the program in the sandbox, each alone: bash reads one file, and calls one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { endOf, runSync } from '../support/run-sync.ts';
import { sourced } from '../support/sandbox-program.ts';

const directory = mkdtempSync(join(tmpdir(), 'walkback-shell-'));
afterAll(() => rmSync(directory, { recursive: true }));

const PLACE = { cwd: directory, env: { PATH: process.env['PATH'] ?? '' } };

/** Runs bash with these files read; `lib` sets the shell up as in a sandbox. */
const bash = (files: string[], script: string) => {
  const text = `cd '${directory}'\nset -- "$PATH" /nowhere\nWB_MARK=MARK\n${sourced('shared/lib', ...files)}${script}`;
  return endOf('/bin/bash', ['-c', text], { ...PLACE, encoding: 'latin1' });
};

test.each([
  ['true', 0],
  ['false', 0],
  ['sh -c "exit 2"', 2],
  ['sh -c "kill -9 \\$\\$"', 137],
])('perhaps %s ends with %i', (command, status) => {
  expect(bash([], `perhaps ${command}`).status).toBe(status);
});

test.each([
  [0, '', 0],
  [1, "find: './a': Permission denied\nfind: './b/c': No such file or directory\n", 0],
  [1, '', 1],
  [1, 'find: memory exhausted\n', 1],
  [1, "find: './a': Permission denied\nfind: write error: No space left on device\n", 1],
  [137, "find: './a': Permission denied\n", 137],
])('a walk that ended with %i and said %j is %i', (status, said, verdict) => {
  writeFileSync(join(directory, 'said'), said);
  expect(bash([], `walked ${status} said`).status).toBe(verdict);
});

test.each([
  [1, 1],
  [125, 0],
  [128, 1],
  [129, 1],
  [137, 0],
])('whether %i is the end by a signal', (status, verdict) => {
  expect(bash([], `ended ${status}`).status).toBe(verdict);
});

test('an answer that cannot be written to its end has no second mark', () => {
  const cut = bash([], 'base64() { echo QUJ; return 1; }\nprintf abc | finish');
  expect([cut.status, cut.stdout.match(/MARK/g)]).toEqual([1, ['MARK']]);
  expect(bash([], 'printf abc | finish').stdout).toBe('\nMARK\nYWJj\nMARK\n');
});

test('a pair that cannot be written is noticed', () => {
  expect(bash([], 'emit a b 2>/dev/null >/dev/full; [ -n "$LOST" ]').status).toBe(0);
  expect(bash([], 'emit a b >/dev/null; [ -z "$LOST" ]').status).toBe(0);
});

test('what find writes of odd names is read back', () => {
  const say = (line: string) => bash(['shared/discovery'], `named "${line}"; printf %s "$TEXT"`).stdout;
  expect(say("find: './caf\\\\303\\\\251 100%': Permission denied")).toBe('caf\u00c3\u00a9 100%');
  expect(say("find: './a\\\\nb': Permission denied")).toBe('a\nb');
  expect(say("find: './it\\\\'s': Permission denied")).toBe("it's");
});

test('a pattern matches exactly the path that it is made for', () => {
  runSync('git', ['init', '-q', '.'], PLACE);
  const name = fc
    .array(fc.constantFrom('a', 'b', '*', '?', '[', ']', '\\', ' ', '!', '#', '\n', '\r', '\t', '-', '^'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(name, name, (one, other) => {
      writeFileSync(join(directory, 'name'), one);
      const { stdout } = bash(
        ['capture/shadow'],
        `IFS= read -r -d '' name <name; pattern_for "$name"; printf '%s\\n' "$PATTERN"`,
      );
      writeFileSync(join(directory, '.git/info/exclude'), Buffer.from(stdout, 'latin1'));
      writeFileSync(join(directory, 'names'), `${one}\0${other}\0`);
      const ask = ['-c', 'git check-ignore --no-index -z --stdin <names'];
      const ignored = endOf('/bin/sh', ask, PLACE).stdout.split('\0');
      expect(ignored.includes(one)).toBe(true);
      expect(ignored.includes(other)).toBe(one === other);
    }),
    { numRuns: 8 },
  );
});

test.each([
  ['CONFLICT (contents)', ' 100644 100644 100644', '123', 'content'],
  ['', ' 100644 100644 100644', '123', 'content'],
  ['CONFLICT (binary)', ' 100644 100644 100644', '123', 'binary'],
  ['CONFLICT (modify/delete)', ' 100644 100644', '12', 'modify/delete'],
  ['', ' 100644 100644', '13', 'modify/delete'],
  ['CONFLICT (contents)', ' 120000 100644', '23', 'symlink'],
  ['CONFLICT (distinct modes)', ' 100644 100644', '23', 'mode'],
  ['CONFLICT (file/directory)', ' 100644', '2', 'file/directory'],
  ['CONFLICT (rename/delete)', ' 100644 100644', '12', 'rename'],
  ['CONFLICT (rename involved in collision)CONFLICT (contents)', ' 100644 100644', '23', 'rename'],
  ['CONFLICT (directory rename suggested)', ' 100644', '3', 'rename'],
  ['CONFLICT (file in way of directory rename)', ' 100644', '3', 'rename'],
  // No state of ours has a submodule. A word of a git to come is passed on, and refused by whoever reads it.
  ['CONFLICT (submodule)', ' 160000 160000', '23', 'CONFLICT (submodule)'],
  ['CONFLICT (of a kind to come)', ' 100644 100644', '23', 'CONFLICT (of a kind to come)'],
])('git says %j of a conflict (modes%s, stages %s): %s', (types, modes, stages, kind) => {
  expect(bash(['merge/three-way'], `kind_of '${types}' '${modes}' ${stages}; printf %s "$KIND"`).stdout).toBe(
    kind,
  );
});

test('a path that git could not merge is no conflict: the composition fails', () => {
  const said = (type: string) =>
    bash(
      ['merge/three-way'],
      `fields=(tree $'100644 aaa 1\\tf' '' 1 f '${type}' 'Cannot merge f'); CONFLICTS=0; read_conflicts`,
    );
  expect(said('ERROR: three-way content merge failed').status).toBe(2);
  expect(said('CONFLICT (contents)').status).toBe(0);
});
