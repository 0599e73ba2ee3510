/** People at a terminal get the texts that a backend gets: what names a function names its command, too. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

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
