/** All of the matrix that checkpoint-abandoned.test.ts takes a sample of. */
import { expect, test } from 'vitest';
import { abandonedCases, everyBreak, runAbandoned, settleCases } from '../support/fakes/abandoned.ts';

test('every abandoned rollback, met by every kind of call', async () => {
  let count = 0;
  for (const one of abandonedCases(await everyBreak())) if (await runAbandoned(one)) count += 1;
  expect(count).toBeGreaterThan(700);
}, 240_000);

test('every death of a call that settles', async () => {
  let count = 0;
  for (const one of await settleCases()) if (await one.run()) count += 1;
  expect(count).toBeGreaterThan(100);
}, 240_000);
