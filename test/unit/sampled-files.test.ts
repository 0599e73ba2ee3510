/** What `npm test` plays in part, `npm run test:long` plays whole. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

const sampled = globSync('test/{contract,scenario,unit,infra}/*.test.ts').filter(
  (file) =>
    !file.endsWith('.long.test.ts') &&
    /from '\.\.\/support\/sampled-test\.ts'/.test(readFileSync(file, 'utf8')),
);

test('a file that takes turns, or is played in part, says its own name', () => {
  expect(sampled.length).toBeGreaterThan(70);
  const wrong = sampled.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:sampledTest|inTurn|isItsTurn)\('([^']*)'/g)]
      .filter(([, name]) => name !== basename(file, '.test.ts'))
      .map(([call]) => `${file}: ${call}`),
  );
  expect(wrong).toEqual([]);
});

test('no file has a longer form beside it: what is long stands in the same file', () => {
  const long = globSync('test/**/*.long.test.ts');
  expect(long.length).toBeGreaterThan(20);
  expect(long.filter((file) => existsSync(file.replace('.long.test.ts', '.test.ts')))).toEqual([]);
});
