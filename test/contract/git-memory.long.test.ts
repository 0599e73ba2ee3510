/** Memory does not grow with the sum of what is captured and restored. */
import { expect, test } from 'vitest';
import { memoryOf } from '../support/memory.ts';

const MIB = 1024 ** 2;

/** What is carried (8 MiB) some times over, and the server of the test that takes the rest; 20 repositories have 134 MiB. */
const BOUND_MIB = 110;

test('20 repositories with 7 MB each are captured and restored in little memory', async () => {
  const memory = await memoryOf(20, 7_000_000, 8 * MIB);
  process.stdout.write(`git-memory: ${JSON.stringify(memory)}\n`);
  expect(memory.storedMiB).toBeGreaterThan(130);
  expect(memory.capture).toBeLessThan(BOUND_MIB);
  expect(memory.restore).toBeLessThan(BOUND_MIB);
});
