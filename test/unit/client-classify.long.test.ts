import { expect, test } from 'vitest';
import { chosenSeed } from '../support/sampling.ts';
import { runReads } from '../support/shell-soup.ts';

test('what is called a read makes no file in a real bash, many scripts', () => {
  expect(runReads(chosenSeed(), 60_000)).toBeGreaterThan(1000);
});
