/** Records of changes that are large: many files, many repositories. */
import { expect, test } from 'vitest';
import type { ClaimedChanges } from '../../core/checkpoint/ports/capture.ts';
import { createHarness, type Snapshot } from '../support/git-harness.ts';

const MIB = 1024 ** 2;
const NEW = 'mkdir -p app; cd app; git init -q -b main .; seq 50 > a.txt; git add a.txt; git commit -qm one';

const changesOf = (snapshot: Snapshot, path = 'app'): ClaimedChanges => {
  const found = snapshot.report.changes?.find((one) => one.path === path);
  if (found === undefined) throw new Error(`nothing recorded of ${path}`);
  return found;
};

test('more files than are listed: the numbers are of all', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  harness.sh('mkdir many; seq 12000 | split -l 1 -a 4 - many/file-with-a-name-of-some-length-', 'app');
  const { files, total, isCut } = changesOf(await harness.capture());
  expect(total).toEqual({ files: 12_000, added: 12_000, deleted: 0 });
  expect(files).toHaveLength(2_000);
  expect(isCut).toBe(true);
});

test('the records of many repositories together are limited, and each keeps its list', async () => {
  await using harness = await createHarness({ changes: true });
  const names = Array.from({ length: 8 }, (_, n) => `r${n}`);
  for (const name of names) harness.sh(NEW.replaceAll('app', name));
  await harness.capture();
  for (const name of names) harness.sh('head -c 1500000 /dev/urandom | base64 > text', name);
  const snapshot = await harness.capture();
  const sizes = names.map((name) => changesOf(snapshot, name));
  expect(sizes.every(({ files, isCut }) => isCut && files[0]?.path === 'text')).toBe(true);
  expect(sizes.every(({ total }) => total.files === 1)).toBe(true);
  expect(sizes.reduce((sum, { patch }) => sum + patch.length, 0)).toBeLessThan(7 * MIB);
});

test('of thousands of branches the first are told and the others counted, and no process is started for each', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  const branches = (count: number, verb: string) =>
    harness.sh(
      `for i in $(seq 10001 $((10000 + ${count}))); do echo "${verb} refs/heads/b$i HEAD"; done | git update-ref --stdin`,
      'app',
    );
  for (const [count, left] of [
    [200, undefined],
    [201, 1],
    [1500, 1300],
  ] as const) {
    branches(count, 'create');
    const { host, isCut } = changesOf(await harness.capture());
    expect(
      host?.branches.map(({ name }) => name),
      `${count}`,
    ).toEqual(Array.from({ length: Math.min(count, 200) }, (_, n) => `b${10_001 + n}`));
    expect([host?.branchesLeft, isCut], `${count}`).toEqual([left, false]);
    harness.sh(
      "git for-each-ref --format='delete %(refname)' 'refs/heads/b*' | git update-ref --stdin",
      'app',
    );
    const gone = changesOf(await harness.capture());
    expect([gone.host?.branches.length, gone.host?.branchesLeft]).toEqual([Math.min(count, 200), left]);
  }
});
