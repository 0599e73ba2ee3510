/** The first screen of the project: short, with three doors, and links that lead somewhere. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const read = (page: string): string => readFileSync(join(PROJECT, page), 'utf8');
const withoutCode = (text: string): string => text.replaceAll(/^\s*```.*?^\s*```$/gms, '');
const README = read('README.md');

/** Code is no prose, and the text of the picture is read instead of it. The rules of a table are no words. */
const words = withoutCode(README)
  .replaceAll(/^!\[.*\)$/gm, '')
  .split(/\s+/)
  .filter((word) => /[\p{L}\p{N}]/u.test(word));

const VERBS = ['rollback', 'revert', 'rewind', 'rehydrate', 'undo', 'redo'];
const SIDES = ['verb', 'files', 'effects', 'conversation', 'later work', 'undoable by'];

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

describe('the README', () => {
  test('has at most 1,200 words', () => {
    expect(words.length).toBeGreaterThan(300);
    expect(words.length).toBeLessThanOrEqual(1200);
  });

  test('has three doors of at most six lines', () => {
    const [, part = ''] = /^## Where to begin\n(.*?)^## /ms.exec(README) ?? [];
    const doors = part.split(/^### .*$/m).slice(1);
    expect(doors.length).toBe(3);
    for (const door of doors) {
      const lines = door.split('\n').filter((line) => line !== '');
      expect(lines.length, door).toBeGreaterThan(0);
      expect(lines.length, door).toBeLessThanOrEqual(6);
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(120);
    }
  });

  test('says of each verb what becomes of each side', () => {
    const [, part = ''] = /^## The verbs\n(.*?)^## /ms.exec(README) ?? [];
    const [head = '', , ...rows] = part.split('\n').filter((line) => line.startsWith('|'));
    expect(cellsOf(head)).toEqual(SIDES);
    const table = rows.map(cellsOf);
    expect(table.map(([verb]) => verb)).toEqual(VERBS.map((verb) => `\`${verb}\``));
    for (const row of table) expect([row.length, row.includes('')]).toEqual([SIDES.length, false]);
  });

  test('has the two commands to try it, and the picture with a text instead of it', () => {
    expect(README).toMatch(/^npm ci && npm run demo\b/m);
    expect(README).toMatch(/^npm ci && npm test\b/m);
    expect(README).toMatch(/^!\[[^\]]{40,}\]\(docs\/picture\.svg\)$/m);
  });
});

/** As GitHub makes them: punctuation goes, each space is a hyphen, and the same heading again has a number. */
const anchorsOf = (page: string): Set<string> => {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)) {
    const plain = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let anchor = plain;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${plain}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
};

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'local/README.md',
  'sandbox/README.md',
  ...globSync('docs/*.md', { cwd: PROJECT }),
];

test.each(pages)('%s: every link leads to a file of the project, and to a heading in it', (page) => {
  const missing: string[] = [];
  for (const [link, path = '', anchor] of withoutCode(read(page)).matchAll(
    /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g,
  )) {
    const target = path === '' ? page : relative(PROJECT, join(PROJECT, dirname(page), path));
    const isThere = globSync(target, { cwd: PROJECT }).length > 0;
    if (!isThere || (anchor !== undefined && !anchorsOf(target).has(anchor))) missing.push(link);
  }
  expect(missing).toEqual([]);
});
