/** Tests start nothing that a machine with git, bash and the usual small programs may lack. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

const PROGRAMS = '(?:ps|pgrep|pkill|killall|lsof|fuser|strace|python3?|perl|jq)';
const FIRST_WORD = new RegExp(String.raw`(?:\(|&& |; |\| )['"\`]?${PROGRAMS} `);
const CALLED = new RegExp(
  String.raw`\b(?:spawn|spawnSync|execFile|execFileSync|run)\(\s*['"]${PROGRAMS}['"]`,
);

const isFound = (source: string): boolean => FIRST_WORD.test(source) || CALLED.test(source);

test('the rule finds what it is for', () => {
  expect(isFound("execFileSync('pgrep', ['-f', marker])")).toBe(true);
  expect(isFound("shell('cd x && ps aux')")).toBe(true);
  expect(isFound("execFileSync('git', ['ps'])")).toBe(false);
});

test('no test asks for programs that may not be there', () => {
  const files = globSync('test/**/*.ts', { cwd: PROJECT });
  expect(files.length).toBeGreaterThan(300);
  expect(
    files.filter(
      (file) =>
        // `npm run test:cloud` says by itself when there is no Python.
        !file.endsWith('tests-programs.test.ts') &&
        !file.startsWith('test/cloud/') &&
        isFound(readFileSync(join(PROJECT, file), 'utf8')),
    ),
  ).toEqual([]);
});
