/** The command counts in words that fit the number: one entry, two entries. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plural } from '../../cli/terminal/text.ts';
import { PROJECT } from '../../local/template.ts';
import { runCommand } from '../support/recording-app.ts';

/** What is counted there, as it is said of several. */
const SEVERAL =
  'amounts approvals branches checkpoints checks commits compensations conflicts copies days digests effects entries files forks ' +
  'ledgers mails messages objects paths refunds repositories rows sagas sessions steps tickets times tools';

const COUNTED = new RegExp(
  `(.{0,10})\\$\\{[^{}]*(?:\\{[^{}]*\\}[^{}]*)*\\} (?:more )?(?:${SEVERAL.split(' ').join('|')})\\b`,
);

/** `3 of 9 checks` and `more than 200 sagas` are several, whatever the number; the last decides by itself. */
const isRight = (before: string, line: string): boolean =>
  /(?:of|more than) $/.test(before) || line.includes('=== 1 ?');

test('a number before a word goes through plural', () => {
  const wrong = globSync('cli/**/*.ts', { cwd: PROJECT }).flatMap((file) =>
    readFileSync(join(PROJECT, file), 'utf8')
      .split('\n')
      .filter((line) => {
        const found = COUNTED.exec(line);
        return found !== null && !isRight(found[1] ?? '', line);
      })
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(wrong).toEqual([]);
});

test.each([
  [0, '0 entries'],
  [1, '1 entry'],
  [2, '2 entries'],
])('%i', (count, text) => expect(plural(count, 'entry', 'entries')).toBe(text));

test('one object of one saga', async () => {
  const answer = { sagas: 1, written: 1, kept: 1 };
  const { stdout } = await runCommand(['ledger', 'backfill', '--from', '2026-01-02', '--to', '2026-01-02'], {
    answers: { 'walkback-export-ledger': answer },
  });
  expect(stdout).toBe('1 saga: 1 object written, 1 was as it had to be\n');
});
