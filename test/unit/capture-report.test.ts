/** What is read from the report of a capture: claims of the sandbox. */
import { expect, test } from 'vitest';
import { bundlesOf } from '../../adapters/git/program/capture-report.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';

const ID = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);

const report = (commit: string, repository: number): unknown => ({
  repositories: [
    {
      path: 'app',
      state: 'captured',
      capture: { commit, tree: ID, meta: ID, chain: 'append', missingTarget: false, stash: [] },
      failures: [],
      skipped: [],
      late: ['f'],
    },
  ],
  bundles: [0, repository].map((at) => ({
    repository: at,
    kind: 'link',
    sizeBytes: 1,
    sha256: SHA256,
    carry: 'inline',
  })),
  records: [],
});

test('ids that are not ids are refused', () => {
  const schema = SANDBOX_REPORTS['capture-late'];
  expect(schema.safeParse(report(ID, 1)).success).toBe(true);
  expect(schema.safeParse(report('../../etc', 1)).success).toBe(false);
});

test.each([
  ['that names no repository', 7],
  ['of the same name as another', 0],
])('a bundle %s is dropped', (_, repository) => {
  const read = SANDBOX_REPORTS['capture-late'].parse(report(ID, repository));
  expect(bundlesOf(read)).toMatchObject([{ name: '0.link', repositoryPath: 'app', commit: ID }]);
});
