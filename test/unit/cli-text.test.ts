import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parseBytes, parseWholeNumber, sessionIdFor, shellWord } from '../../cli/options.ts';
import { prepareColumns, visibleLength } from '../../cli/terminal/columns.ts';
import { pagerCommand } from '../../cli/terminal/pager.ts';
import { table } from '../../cli/terminal/table.ts';
import { createPaint, paintFor, wantsColour } from '../../cli/terminal/terminal.ts';
import {
  formatDuration,
  formatTime,
  padEnd,
  padStart,
  truncate,
  truncateStart,
  wrap,
} from '../../cli/terminal/text.ts';
import { paintDiff } from '../../cli/view/diff-view.ts';
import { exportLines } from '../../cli/view/up-view.ts';
import { ID_PATTERN } from '../../contract/ids.ts';
import { formatBytes, formatSpan, listSome, printable } from '../../present/text.ts';

const output = (isTTY: boolean) => ({ write: () => undefined, isTTY });

describe('text for the terminal', () => {
  beforeAll(() => prepareColumns('日'));

  test('formats bytes in powers of 1024', () => {
    expect([0, 999, 1023, 1024, 1234, 10 * 1024 ** 2, 5.5 * 1024 ** 3].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1023 B',
      '1.0 KiB',
      '1.2 KiB',
      '10.0 MiB',
      '5.5 GiB',
    ]);
  });

  test('names the largest unit that stays whole, below a second milliseconds', () => {
    const ms = [0, 3, 499, 999, 1000, 10_400, 90_000, 5_400_000, 86_400_000];
    expect(ms.map(formatDuration).join(', ')).toBe(
      '0 ms, 3 ms, 499 ms, 999 ms, 1 s, 10 s, 90 s, 90 min, 24 h',
    );
  });

  test('shows the clock on the same day and the date otherwise', () => {
    const now = new Date(2026, 4, 6, 20, 0);
    expect(formatTime(new Date(2026, 4, 6, 7, 8, 9).toISOString(), now)).toBe('07:08:09');
    expect(formatTime(new Date(2026, 4, 5, 7, 8, 9).toISOString(), now)).toBe('2026-05-05 07:08');
  });

  test('makes escape sequences and bidirectional overrides visible', () => {
    // A letter holds it together where the text around it runs from right to left.
    expect(printable('\u001b]0;x\u0007 \u202eabc \u009b1m ok\n')).toBe(
      '^[]0;x^G <U+202E>abc <U+009B>1m ok\n',
    );
    // What is seen as nothing, in an address for example.
    expect(printable('ada@\u200bexa\u2060mple.com\u200e\u{e0041}\u3164\u2028\ufeff\ud800')).toBe(
      'ada@<U+200B>exa<U+2060>mple.com<U+200E><U+E0041><U+3164><U+2028><U+FEFF><U+D800>',
    );
    // What people write with stays.
    for (const text of ['می\u200cخواهم', '👩\u200d💻', '☂\ufe0f', 'שלום', '\u0600١', '葛\u{e0100}'])
      expect(printable(text)).toBe(text);
  });

  test('breaks lines between words', () => {
    expect(wrap('one two three\nfour', 7)).toBe('one two\nthree\nfour');
    expect(wrap('unbreakable', 4)).toBe('unbreakable');
  });

  test('cuts by characters, not code units', () => {
    expect(truncate('🙂🙂🙂', 3)).toBe('🙂…');
    expect(truncateStart('/home/me/work', 6)).toBe('…/work');
    expect(listSome(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
  });

  test.each([
    ['日本語', 6],
    ['한국', 4],
    ['हिन्दी', 5],
    ['e\u0301', 1],
    ['👨‍👩‍👧', 2],
    ['🫠', 2],
    ['\u001b[1mab\u001b[22m', 2],
  ])('takes %j for as many columns as a terminal does', (text, columns) => {
    expect(visibleLength(text)).toBe(columns);
    expect(padEnd(text, 8)).toBe(text + ' '.repeat(8 - columns));
    expect(padStart(text, 8)).toBe(' '.repeat(8 - columns) + text);
  });

  test('agrees with the library on text that needs none', () => {
    const unit = fc.constantFrom(
      'a',
      '~',
      'é',
      'ł',
      '·',
      '│',
      '◉',
      '…',
      '✔',
      '\n',
      '\u001b[31m',
      '\u001b[0m',
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(visibleLength(text)).toBe(stringWidth(text));
      }),
    );
  });

  test('cuts before a character that is wider than the room', () => {
    expect(truncate('日本語', 6)).toBe('日本語');
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncateStart('日本語', 5)).toBe('…本語');
    expect(truncateStart('日本語', 4)).toBe('…語');
    expect(wrap('日本 語学', 8)).toBe('日本\n語学');
  });

  test('cuts any text so that it fits, and no earlier than it must', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '日', '🙂', 'e\u0301', '👨‍👩‍👧', 'हि', ' ') }),
        fc.integer({ min: 1, max: 20 }),
        (text, width) => {
          for (const cut of [truncate(text, width), truncateStart(text, width)]) {
            const room = width - visibleLength(cut);
            expect(room).toBeGreaterThanOrEqual(0);
            if (cut !== text) expect(room).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });

  test('aligns the columns of a table whatever script a cell is in', () => {
    const columns = [{ head: 'NAME' }, { head: 'N', align: 'right' as const }, { head: 'END' }];
    const rows = [
      ['日本語', '1', 'x'],
      ['हिन्दी', '22', 'x'],
      ['melting 🫠', '3', 'x'],
      ['\u001b[1mbold\u001b[22m', '4', ''],
    ];
    expect(table(columns, rows, createPaint(false))).toBe(
      [
        'NAME         N  END',
        '日本語       1  x',
        'हिन्दी       22  x',
        'melting 🫠   3  x',
        '\u001b[1mbold\u001b[22m         4',
        '',
      ].join('\n'),
    );
  });

  test('colours only where it is wanted', () => {
    expect(wantsColour({}, output(true))).toBe(true);
    expect(wantsColour({}, output(false))).toBe(false);
    expect(wantsColour({ NO_COLOR: '1', FORCE_COLOR: '1' }, output(true))).toBe(false);
    expect(wantsColour({ FORCE_COLOR: '1' }, output(false))).toBe(true);
    expect(wantsColour({ TERM: 'dumb' }, output(true))).toBe(false);
    expect(wantsColour({ FORCE_COLOR: '0' }, output(true))).toBe(false);
    expect(wantsColour({ NO_COLOR: '', FORCE_COLOR: '' }, output(true))).toBe(true);
  });

  test('colours by the terminal it is given, not by the process it runs in', () => {
    const terminal = { cwd: '/', stdin: process.stdin, stderr: output(false), now: () => new Date() };
    const on = { ...terminal, env: { FORCE_COLOR: '1' }, stdout: output(false) };
    const off = { ...terminal, env: { NO_COLOR: '1' }, stdout: output(true) };
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS']) {
      vi.stubEnv(name, '1');
      expect(paintFor(on).red('x')).toBe('\u001b[31mx\u001b[39m');
      expect(paintFor(off).red('x')).toBe('x');
      vi.unstubAllEnvs();
    }
  });

  test('goes back to the outer colour after an inner one', () => {
    const { dim, bold } = createPaint(true);
    expect(dim(`a${bold('b')}c`)).toBe('\u001b[2ma\u001b[1mb\u001b[22m\u001b[2mc\u001b[22m');
  });

  test('pages on a terminal only', () => {
    expect(pagerCommand({ env: {}, stdout: output(true) })).toBe('less');
    expect(pagerCommand({ env: { PAGER: 'more' }, stdout: output(true) })).toBe('more');
    expect(pagerCommand({ env: { PAGER: 'cat' }, stdout: output(true) })).toBeUndefined();
    expect(pagerCommand({ env: {}, stdout: output(false) })).toBeUndefined();
  });
});

describe('a coloured diff', () => {
  const paint = createPaint(true);
  test('keeps headers apart from removed lines that look like them', () => {
    const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n--- not a header\n+new\n same';
    expect(paintDiff(diff, paint)).toEqual([
      paint.bold('diff --git a/x b/x'),
      paint.bold('--- a/x'),
      paint.bold('+++ b/x'),
      `${paint.cyan('@@ -1 +1 @@')} f`,
      paint.red('--- not a header'),
      paint.green('+new'),
      ' same',
    ]);
  });
});

describe('option values', () => {
  test('read sizes with units', () => {
    expect(['10', '5M', '5MiB', '1.5k', '2GB'].map(parseBytes)).toEqual([
      10,
      5 * 1024 ** 2,
      5 * 1024 ** 2,
      1536,
      2 * 1024 ** 3,
    ]);
    expect(() => parseBytes('many')).toThrow('number of bytes');
  });

  test('refuse numbers out of range', () => {
    expect(parseWholeNumber(1, 10)('10')).toBe(10);
    for (const text of ['0', '11', '1.5', '-1', '', '1e1']) {
      expect(() => parseWholeNumber(1, 10)(text)).toThrow('from 1 to 10');
    }
  });

  test('make session ids of any directory name', () => {
    for (const root of ['/home/me/My Work!', '/', '/...', `/${'x'.repeat(300)}`, '/привет']) {
      expect(sessionIdFor(root)).toMatch(ID_PATTERN);
    }
    expect(sessionIdFor('/home/me/shop')).toMatch(/^shop-[0-9a-f]{8}$/);
  });

  test('quote words for a shell', () => {
    expect(shellWord('/a/b-c')).toBe('/a/b-c');
    expect(shellWord("it's $HOME")).toBe(`'it'\\''s $HOME'`);
    expect(exportLines({ B: 'x y', A: '1' })).toEqual(['export A=1', "export B='x y'"]);
  });
});

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [61, '1 min 1 s'],
  [3600, '1 h'],
  [98_765, '1 day 3 h'],
  [200_000, '2 days 7 h'],
])('%i seconds are told in units that people use', (seconds, text) => {
  expect(formatSpan(seconds)).toBe(text);
});
