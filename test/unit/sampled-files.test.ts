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

test('the longer form of a file that is played in part, or in turn, has all of its tests', () => {
  const missing = sampled.flatMap((file) => {
    const name = basename(file, '.test.ts');
    const long = file.replace('.test.ts', '.long.test.ts');
    if (!existsSync(long)) return [];
    return readFileSync(long, 'utf8').includes(`import './${name}.test.ts';`) ? [] : [name];
  });
  expect(missing).toEqual([]);
});
