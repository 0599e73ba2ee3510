/** How many lines of an agent's turn are about Walkback: those that the same turn without it does not have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const linesOf = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, '../../examples/client', `${name}.ts`), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');

const glueOf = (name: string): string[] => {
  const before = new Set(linesOf('before'));
  return linesOf(name).filter((line) => !before.has(line));
};

test('checkpoints take at most six lines', () => {
  expect(glueOf('with-checkpoints').length).toBeGreaterThan(3);
  expect(glueOf('with-checkpoints').length).toBeLessThanOrEqual(6);
});

test('a saga with two tools of one’s own takes at most twelve, checkpoints included', () => {
  // The tools themselves are not glue; that they are imported is.
  expect(glueOf('with-saga').length).toBeLessThanOrEqual(12);
});
