/** All of `git-company.test.ts`, and many more writes that race with rollbacks. */
import './git-company.test.ts';
import { test } from 'vitest';
import { racesWithRollbacks } from '../support/racing-rollbacks.ts';

test('no write that races with a rollback is lost, whenever it comes', { timeout: 1_200_000 }, () =>
  racesWithRollbacks(15, 150),
);

test(
  'no write that races with a rollback of content is lost, whenever it comes',
  { timeout: 1_200_000 },
  () => racesWithRollbacks(12, 300, { onlyContent: true, pause: 2 }),
);
