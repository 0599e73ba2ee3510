/** Settings that git refuses: nothing of the host's state can be read then, and the working files are captured all the same. */
import { describe, expect, test } from 'vitest';
import { openCase } from '../support/git-cases.ts';

describe('settings that git refuses', () => {
  const REFUSED = 'HEAD or the branches of the host repository cannot be read: fatal: bad';

  test.for(['core.fileMode maybe', 'core.compression lots', 'push.default odd'])(
    '%s: HEAD cannot be read',
    async (setting) => {
      await using harness = await openCase({ setup: `git config ${setting}` });
      const { report } = await harness.capture();
      expect(report.failures[0]?.path).toBe('app/.git');
    },
  );

  test('HEAD cannot be read also where branches were known before', async () => {
    await using harness = await openCase({ setup: ':' });
    const first = await harness.capture();
    harness.sh('git config core.fileMode maybe; echo two >a.txt', 'app');
    const { report } = await harness.capture();
    expect(report.failures).toEqual([
      { path: 'app/.git', reason: expect.stringContaining(REFUSED) },
      ...report.failures.slice(1),
    ]);
    harness.sh("sed -i '/maybe/d' .git/config", 'app');
    const { report: there } = await harness.rollback(first);
    expect(there.outcome).toBe('applied');
    expect(harness.sh('cat a.txt; git status --porcelain', 'app')).toBe('one\n');
  });
});
