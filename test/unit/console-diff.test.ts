/** Diffs as markup: what is a line, which words changed, and that nothing of it is markup. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { colourLines, languageOf } from '../../console/diff/colours.ts';
import { diffMarkup, roomFor } from '../../console/diff/markup.ts';
import { parseDiff } from '../../console/diff/parse.ts';
import { changedWords } from '../../console/diff/words.ts';

const diff = (lines: readonly string[], path = 'api/a.ts'): string => {
  const count = (marks: string): number => lines.filter((line) => marks.includes(line.charAt(0))).length;
  return [
    `diff --git a/${path} b/${path}`,
    'index 1111111..2222222 100644',
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -1,${count(' -')} +1,${count(' +')} @@ function f()`,
    ...lines,
    '',
  ].join('\n');
};

const shown = async (text: string, room = roomFor()): Promise<string> =>
  String(await diffMarkup(text, 'api', room));

/** What a reader sees of it. */
const words = (markup: string): string => markup.replaceAll(/<[^>]*>/g, '');

describe('the lines of a diff', () => {
  test('have their numbers, and a line that looks like a header is one', () => {
    const [file] = parseDiff(diff([' one', '--- two', '+++ three', ' four']));
    expect(file?.path).toBe('api/a.ts');
    expect(file?.hunks[0]?.lines).toEqual([
      { kind: 'kept', text: 'one', before: 1, after: 1 },
      { kind: 'removed', text: '-- two', before: 2, after: null },
      { kind: 'added', text: '++ three', before: null, after: 2 },
      { kind: 'kept', text: 'four', before: 3, after: 3 },
    ]);
  });

  test('of a file whose diff ends too early are counted as the first ones, and a file without lines has no count', async () => {
    const whole = diff(['+one', '+two', '+three']);
    expect(words(await shown(whole))).toContain('+3 −0');
    expect(words(await shown(whole))).not.toContain('or more');
    expect(words(await shown(whole.slice(0, whole.indexOf('+three'))))).toContain('+2 −0 or more');
    const large = words(
      await shown('diff --git a/api/l.txt b/api/l.txt\nBinary files a/api/l.txt and b/api/l.txt differ\n'),
    );
    expect(large).toContain('Not shown by lines: not text, or too large.');
    expect(large).not.toContain('+0');
  });

  test('of several files, renames, modes, binaries and quoted names', () => {
    const files = parseDiff(
      [
        'diff --git a/api/lib/total.ts b/api/sum.ts',
        'similarity index 100%',
        'rename from lib/total.ts',
        'rename to sum.ts',
        'diff --git a/api/x.bin b/api/x.bin',
        'Binary files a/api/x.bin and b/api/x.bin differ',
        'diff --git "a/api/\\303\\244 b.txt" "b/api/\\303\\244 b.txt"',
        'new file mode 100644',
        '--- /dev/null',
        '+++ "b/api/\\303\\244 b.txt"',
        '@@ -0,0 +1 @@',
        '+x',
        '\\ No newline at end of file',
      ].join('\n'),
    );
    expect(files.map(({ path, notes }) => [path, notes.length])).toEqual([
      ['api/sum.ts', 3],
      ['api/x.bin', 1],
      ['api/ä b.txt', 1],
    ]);
    expect(files[2]?.hunks[0]?.lines.map(({ kind }) => kind)).toEqual(['added', 'note']);
  });

  test.each([
    ['a', 'a longer name'],
    ['a b b/a', 'a'],
    ['ä', 'plain'],
    ['plain', 'ä "quoted"\tname'],
    ['ä', 'ö'],
    ['x/y/z', 'b/api/x'],
  ])('of a rename from %s to %s, as git writes it, are of the new name', (from, to) => {
    const root = mkdtempSync(join(tmpdir(), 'renamed-'));
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' });
    try {
      git('init', '-q');
      const trees = [from, to].map((name) => {
        mkdirSync(join(root, dirname(name)), { recursive: true });
        writeFileSync(join(root, name), 'one\ntwo\n');
        git('add', '--', name);
        const tree = git('write-tree').trim();
        git('rm', '-q', '-f', '--', name);
        return tree;
      });
      const names = ['--src-prefix=a/the api/', '--dst-prefix=b/the api/'];
      const [file] = parseDiff(git('diff-tree', '-r', '-p', '-M', ...names, ...trees));
      expect(file?.path).toBe(`the api/${to}`);
      expect(file?.notes).toContain('similarity index 100%');
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test('a diff that is cut in the middle, or is none, is shown as far as it goes', async () => {
    const whole = diff(['-one', '+two', '+three']);
    for (let length = 0; length <= whole.length; length += 1) {
      const markup = await shown(whole.slice(0, length));
      expect((markup.match(/<div/g) ?? []).length).toBe((markup.match(/<\/div>/g) ?? []).length);
    }
    expect(words(await shown('this is no diff'))).toContain('this is no diff');
  });
});

describe('changed words', () => {
  const spans = (before: string, after: string) => {
    const lines = parseDiff(diff([`-${before}`, `+${after}`]))[0]?.hunks[0]?.lines ?? [];
    const found = changedWords(lines);
    return lines.map((line) => (found.get(line) ?? []).map(({ from, to }) => line.text.slice(from, to)));
  };

  test('are those that differ', () => {
    expect(spans('return total + tax;', 'return total - tax;')).toEqual([['+'], ['-']]);
  });

  test('are not looked for where nothing is alike, or lines are very long', () => {
    expect(spans('alpha beta', 'x = y(z)')).toEqual([[], []]);
    expect(spans(`${'a '.repeat(300)}1`, `${'a '.repeat(300)}2`)).toEqual([[], []]);
  });
});

describe('colours', () => {
  test.each([
    ['src/a.ts', 'ts'],
    ['Dockerfile', 'dockerfile'],
    ['x/Makefile', 'makefile'],
    ['a.yml', 'yml'],
    ['a.vue', 'xml'],
    ['a.unknown', undefined],
    ['LICENSE', undefined],
  ])('%s is %s', (path, language) => {
    expect(languageOf(path)).toBe(language);
  });

  test('go on over lines, and cover no more than the text', () => {
    const lines = ['/* one', 'two */ const three = "4";', '', '<style>'];
    const pieces = colourLines(lines, 'typescript');
    expect(pieces.map((line) => line.reduce((sum, { length }) => sum + length, 0))).toEqual(
      lines.map(({ length }) => length),
    );
    expect(pieces.map((line) => line[0]?.kind)).toEqual(['c', 'c', undefined, undefined]);
    expect(colourLines(['<style>', 'a { color: red }', '</style>'], 'xml')[1]?.length).toBeGreaterThan(1);
  });
});

test('nothing of a file becomes markup, works as a control character or turns its direction', async () => {
  const nasty = '<img src=x onerror="alert(1)">&amp;\'\u202e\u0007\u2066';
  const markup = await shown(diff([`-const a = "${nasty}";`, `+const b = "${nasty}!"; // </div>${nasty}`]));
  for (const bad of ['<img', '\u202e', '\u0007', '\u2066']) expect(markup).not.toContain(bad);
  expect(markup).toContain('&lt;img');
  expect(markup.match(/<mark>/g)?.length).toBeGreaterThan(1);
  expect(words(markup)).toContain('&lt;/div&gt;');
});

test('a patch of 5 MB is cut at the end of a line, and that is said', async () => {
  const line = `const value = await load("${'x'.repeat(60)}");`;
  const big = diff(['-before', ...Array.from({ length: 60_000 }, (_, n) => `+${n} ${line}`)]);
  expect(big.length).toBeGreaterThan(5_000_000);
  const markup = await shown(big);
  expect(markup.length).toBeLessThan(400_000);
  const end = words(markup).slice(-200);
  expect(end).toMatch(/Cut here: \d+ more lines of this file/);
  expect(end).toMatch(/Cut here: \d\.\d MiB more of this patch/);
});

test('all diffs of a page share its room', async () => {
  const room = roomFor('file', 10);
  const one = diff(Array.from({ length: 8 }, (_, n) => `+${n}`));
  expect(await shown(one, room)).not.toContain('Cut here');
  expect(await shown(one + one, room)).toContain('Cut here: 6 more lines');
  expect(room.lines).toBe(0);
  expect(await shown(one, room)).toContain('Cut here: 1 more file');
});
