/** A file that a comment, a page or a test cites is there. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
/** Every folder of the project, so that a new one is looked at too. */
const TOP = readdirSync(PROJECT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && /^[a-z]/.test(entry.name) && entry.name !== 'node_modules')
  .map(({ name }) => name)
  .join('|');
const EXTENSION = '(?:ts|rs|sh|md|mjs)';

/** From the top of the project, and not part of a longer path or URL. */
const WHOLE_PATH = new RegExp(`(?<![\\w./@-])(?:${TOP})/[\\w./-]*[\\w-]\\.(?:${EXTENSION}|json)\\b`, 'g');
/** In back ticks or brackets, or after "see": a file by its name alone. */
const NAME = new RegExp(`[\`(]([a-z][a-z0-9_-]*(?:\\.test)?\\.${EXTENSION})[\`,):]`, 'g');
/** In back ticks or brackets, in the sandbox program: a file by its folder. */
const IN_PROGRAM = /[`(]((?:[a-z_]+\/)+[a-z_]+\.rs)[`,):]/g;
/** Of a program's comments and pages only: code imports by paths that the compiler follows. */
const COMMENT = /\/\*\*?[\s\S]*?\*\/|(?<=^|[\s;{])\/\/[^\n]*|^\s*#[^\n]*/gm;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: PROJECT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '');
const known = new Set(files);
const names = new Set(files.map((path) => basename(path)));

const cites = (path: string): boolean => /\.(?:ts|rs|md|sh)$/.test(path);

const textOf = (path: string): string => {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  return path.endsWith('.md') ? text : [...text.matchAll(COMMENT)].map(([comment]) => comment).join('\n');
};

test('every file that is cited is in the tree', () => {
  let cited = 0;
  let inProgram = 0;
  const missing: string[] = [];
  for (const path of files.filter(cites)) {
    const text = textOf(path);
    for (const [file] of text.matchAll(WHOLE_PATH)) {
      cited += 1;
      if (!known.has(file)) missing.push(`${path}: ${file}`);
    }
    for (const [, file = ''] of text.matchAll(NAME)) {
      cited += 1;
      if (!names.has(file)) missing.push(`${path}: ${file}`);
    }
    if (!path.startsWith('sandbox/')) continue;
    for (const [, file = ''] of text.matchAll(IN_PROGRAM)) {
      inProgram += 1;
      if (!known.has(`sandbox/src/${file}`) && !known.has(`sandbox/${file}`))
        missing.push(`${path}: ${file}`);
    }
  }
  expect(missing).toEqual([]);
  expect(cited).toBeGreaterThan(40);
  expect(inProgram).toBeGreaterThan(40);
});

test('every block of code in a page is closed before the next one begins', () => {
  const pages = files.filter((path) => path.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(10);
  for (const path of pages) {
    let opened = '';
    for (const [at, line] of readFileSync(join(PROJECT, path), 'utf8').split('\n').entries()) {
      const [, fence = '', language = ''] = /^\s*(`{3,})(.*)$/.exec(line) ?? [];
      if (fence === '' || fence.length < opened.length) continue;
      if (opened !== '') expect(language, `${path}:${at + 1} is inside a block`).toBe('');
      opened = opened === '' ? fence : '';
    }
    expect(opened, `${path} ends inside a block`).toBe('');
  }
});

test('CONTRIBUTING.md says of every dependency what it is for', () => {
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const [, why = ''] = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8').split(
    '## Dependencies and why\n',
  );
  const unnamed = Object.keys(dependencies).filter(
    (name) => !why.includes(`\`${name}\``) && !/^@aws-(?:sdk|lambda-powertools)\//.test(name),
  );
  expect(why).toContain('AWS SDK v3');
  expect(unnamed).toEqual([]);
});
