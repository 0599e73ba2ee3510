/** Files of an operation in progress that are not what they should be: they are named, and nothing waits for them. */
import { expect, test } from 'vitest';
import { rebuilds, withTwoFiles } from '../support/git-repositories.ts';

const MERGE =
  'git checkout -qb side; echo side > a.txt; git commit -qam side; git checkout -q main; echo main > a.txt; git commit -qam main; git merge side >/dev/null || true; test -f .git/MERGE_HEAD';

test('a file of a merge that is larger than the cap is named, and the others are captured', async () => {
  await using harness = await withTwoFiles(['app'], { maxFileBytes: 1000 });
  harness.sh(`${MERGE}; head -c 1001 /dev/zero | tr "\\0" m > .git/MERGE_MSG`, 'app');
  const capture = await harness.capture();
  expect(capture.report.failures).toEqual([
    {
      path: 'app/.git/MERGE_MSG',
      reason: 'it is larger than maxFileBytes (1000), so it is not captured',
    },
  ]);
  await rebuilds(harness, capture);
  expect(harness.sh('ls .git/MERGE_*; git rev-parse -q --verify MERGE_HEAD^{commit} >/dev/null', 'app')).toBe(
    '.git/MERGE_HEAD\n.git/MERGE_MODE\n',
  );
});

test('a file of a merge that is as large as the cap comes back, and links and pipes do not count', async () => {
  await using harness = await withTwoFiles(['app'], { maxFileBytes: 1000 });
  harness.sh(
    `${MERGE}; head -c 1000 /dev/zero | tr "\\0" m > .git/MERGE_MSG; mkdir .git/rebase-apply; ln -s /etc/passwd .git/rebase-apply/link; mkfifo .git/rebase-apply/pipe; echo 1 > .git/rebase-apply/next`,
    'app',
  );
  const capture = await harness.capture();
  expect(capture.report.failures).toEqual([]);
  await rebuilds(harness, capture);
  expect(harness.sh('wc -c < .git/MERGE_MSG; ls .git/rebase-apply', 'app')).toBe('1000\nnext\n');
});
