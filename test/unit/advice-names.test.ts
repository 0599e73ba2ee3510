/** People at a terminal get the texts that a backend gets: what names a function names its command, too. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';
import { runCommand } from '../support/recording-app.ts';

/** A text, not a comment, a name by itself or a path. */
const ADVICE = /(?:'[^']* |`[^`]* )walkback-(?:[a-z]+-?)+[^'`]*['`]/;

test('the texts of the core', () => {
  const advice = globSync('core/**/*.ts', { cwd: PROJECT }).flatMap((file) =>
    readFileSync(join(PROJECT, file), 'utf8')
      .split('\n')
      .flatMap((line) => ADVICE.exec(line)?.[0] ?? [])
      .map((text) => `${file}: ${text}`),
  );
  expect(advice).not.toEqual([]);
  expect(advice.filter((text) => !/\(walkback [a-z]/.test(text))).toEqual([]);
});

/** `(walkback merge TARGET --into FORK)`: the command, and what stands between it and its first option. */
const NAMED = /\(walkback ([a-z][a-z-]*(?: [a-z][a-z-]*)*)((?: [A-Z]+)*)/g;

test('a command in them has the arguments that it needs', async () => {
  const named = globSync('core/**/*.ts', { cwd: PROJECT }).flatMap((file) => [
    ...readFileSync(join(PROJECT, file), 'utf8').matchAll(NAMED),
  ]);
  expect(named).not.toEqual([]);
  for (const [text, command = '', given = ''] of named) {
    const { stdout } = await runCommand([...command.split(' '), '--help']);
    const [usage = ''] = stdout.split('\n');
    const needed = usage.match(/<[a-z]+>/g) ?? [];
    expect(given.match(/[A-Z]+/g) ?? [], text).toHaveLength(needed.length);
  }
});
