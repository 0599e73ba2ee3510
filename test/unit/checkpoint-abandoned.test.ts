/** A rollback its caller gave up on, broken off everywhere, met by every kind of call, with and without work in between. A sample, all of it in `npm run test:long`. */
import { expect, test } from 'vitest';
import { abandonedCases, everyBreak, runAbandoned, settleCases } from '../support/fakes/abandoned.ts';
import { sampled, WHOLE } from '../support/sampling.ts';

test('whoever comes next loses nothing, begins no writing of its own, and tells what it settled', async () => {
  const breaks = await everyBreak();
  expect(breaks.filter(({ where }) => where === 'at file').length).toBeGreaterThanOrEqual(8);
  const cases = abandonedCases(breaks);
  expect(cases.length).toBeGreaterThan(700);
  // A number that shares no factor with the cases of one break, so that all kinds of calls are met.
  let count = 0;
  for (const one of sampled(cases, { every: 19 })) if (await runAbandoned(one)) count += 1;
  expect(count).toBeGreaterThanOrEqual(WHOLE ? 701 : 40);
}, 240_000);

test('a call that dies while it settles is finished by the same call again', async () => {
  let count = 0;
  for (const one of sampled(await settleCases(), { every: 9 })) if (await one.run()) count += 1;
  expect(count).toBeGreaterThanOrEqual(WHOLE ? 101 : 10);
}, 240_000);
