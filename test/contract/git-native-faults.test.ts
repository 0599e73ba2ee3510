/** Any process of git that a native restore starts may fail, in any way: nothing is lost, and the next call arrives. */
import { afterAll, beforeAll } from 'vitest';
import { besideRestores } from '../support/git-native-restore.ts';
import { isPutBack, restoreFaults } from '../support/restore-faults.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-native-faults', 2);

beforeAll(() => {
  besideRestores.native = { compared: 0, left: [], isAlone: true };
});
afterAll(() => {
  delete besideRestores.native;
});

for (const changed of ['staying', 'contents', 'hidden', 'converted'] as const)
  test(
    `a native restore of which any one process fails is at the target, or told: ${changed} changed`,
    () => restoreFaults(2, changed),
    { timeout: 600_000 },
  );

test('branches that cannot be moved in one repository put all of them back', () =>
  isPutBack('staying', 'update-ref'));
