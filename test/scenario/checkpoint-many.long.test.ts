import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { takeManyAtOnce } from '../support/many-checkpoints.ts';

test('100 checkpoints of 20 sessions at once are taken, or say that they may be tried again', async () => {
  await using cloud = await startTestCloud();
  const { taken, throttled } = await takeManyAtOnce(cloud, { sessions: 20, each: 5 });
  process.stdout.write(`checkpoint-many: ${taken} taken, ${throttled} throttled\n`);
  expect(taken + throttled).toBe(100);
  expect(taken).toBeGreaterThan(90);
});
