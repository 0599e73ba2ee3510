/** What `npm test` plays in part, `npm run test:long` plays whole. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

/** Their longer forms have the same tests, with more cases. */
const SAME_TESTS = ['git-restore-faults', 'git-faults-capture', 'git-stillness'];

test('the longer form of a file that is played in part, or in turn, has all of its tests', () => {
  const sampled = globSync('test/{contract,scenario}/*.test.ts').filter((file) =>
    /\b(?:sampledTest|inTurn|isItsTurn)\(/.test(readFileSync(file, 'utf8')),
  );
  expect(sampled.length).toBeGreaterThan(50);
  const missing = sampled.flatMap((file) => {
    const name = basename(file, '.test.ts');
    const long = file.replace('.test.ts', '.long.test.ts');
    if (!existsSync(long) || SAME_TESTS.includes(name)) return [];
    return readFileSync(long, 'utf8').includes(`import './${name}.test.ts';`) ? [] : [name];
  });
  expect(missing).toEqual([]);
});
