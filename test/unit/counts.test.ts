/** What people read counts in words that fit the number: one entry, two entries. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plural } from '../../core/shared/plural.ts';
import { PROJECT } from '../../local/template.ts';
import { runCommand } from '../support/recording-app.ts';

/** What is counted there, as it is said of several. */
const SEVERAL =
  'amounts approvals branches cases characters checkpoints checks commits compensations conflicts copies days digests effects entries files forks ' +
  'ledgers mails messages objects paths records refunds repositories rows sagas seconds sessions steps tickets times tools';

const WHERE =
  'adapters/**/*.ts cli/**/*.ts client/**/*.ts console/**/*.ts contract/**/*.ts core/**/*.ts functions/**/*.ts kit/**/*.ts local/streams/*.ts';

const COUNTED = new RegExp(
  `(.{0,10})\\$\\{[^{}]*(?:\\{[^{}]*\\}[^{}]*)*\\} (?:more )?(?:${SEVERAL.split(' ').join('|')})\\b`,
);

/** `3 of 9 checks`, `more than 200 sagas` and a limit are several, whatever the number; the last decides by itself. */
const isRight = (before: string, line: string): boolean =>
  /(?:of|than|most) $/.test(before) || /\$\{MAX_/.test(line) || line.includes('=== 1 ?');

test('a number before a word goes through plural', () => {
  const wrong = globSync(WHERE.split(' '), { cwd: PROJECT }).flatMap((file) =>
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
