/** What changed between two captures, recorded by the capture itself: files, counts, patch, host state. Real git. Large records in `npm run test:long`. */
import { expect, test } from 'vitest';
import type { ClaimedChanges } from '../../core/checkpoint/ports/capture.ts';
import { createHarness, type Snapshot } from '../support/git-harness.ts';
import { longTest } from '../support/sampled-test.ts';

const MIB = 1024 ** 2;
const NEW = 'mkdir -p app; cd app; git init -q -b main .; seq 50 > a.txt; git add a.txt; git commit -qm one';

const changesOf = (snapshot: Snapshot, path = 'app'): ClaimedChanges => {
  const found = snapshot.report.changes?.find((one) => one.path === path);
  if (found === undefined) throw new Error(`nothing recorded of ${path}`);
  return found;
};
const patchOf = (changes: ClaimedChanges): string => Buffer.from(changes.patch).toString('utf8');

test('an edit, a binary file, CRLF, a rename, a mode, a symlink and a deleted file, each with its counts', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(
    `${NEW}; printf '\\0bin' > b.bin; printf 'a\\r\\nb\\r\\n' > crlf; seq 200 300 > old; echo x > run; echo gone > gone; echo f > typed`,
  );
  const first = await harness.capture();
  expect(first.report.changes).toBeUndefined();
  harness.sh(
    "sed -i 's/^7$/seven/' a.txt; printf '\\0bin2' > b.bin; printf 'a\\r\\nc\\r\\n' > crlf; mv old new; chmod +x run; rm gone typed; ln -s a.txt typed; echo n > added",
    'app',
  );
  const second = await harness.capture();
  const changes = changesOf(second);
  const lines = { added: 1, deleted: 1, binary: false };
  expect(changes.files).toEqual([
    { path: 'a.txt', change: 'modified', ...lines },
    { path: 'added', change: 'added', added: 1, deleted: 0, binary: false },
    { path: 'b.bin', change: 'modified', added: null, deleted: null, binary: true },
    { path: 'crlf', change: 'modified', ...lines },
    { path: 'gone', change: 'deleted', added: 0, deleted: 1, binary: false },
    { path: 'new', from: 'old', change: 'renamed', added: 0, deleted: 0, binary: false },
    {
      path: 'run',
      change: 'modified',
      added: 0,
      deleted: 0,
      binary: false,
      mode: { from: '100644', to: '100755' },
    },
    { path: 'typed', change: 'retyped', ...lines },
  ]);
  expect(changes).toMatchObject({ total: { files: 8, added: 4, deleted: 4 }, isCut: false });
  expect(changes.problem).toBeUndefined();
  const patch = patchOf(changes);
  expect(patch).toContain('--- a/app/a.txt\n+++ b/app/a.txt\n');
  expect(patch).toContain('\n-7\n+seven\n');
  expect(patch).toContain('-b\r\n+c\r\n');
  expect(patch).toContain('Binary files a/app/b.bin and b/app/b.bin differ');
  expect(patch).toContain('rename from old\nrename to new\n');
  expect(second.report.roundTrips).toBe(1);
  // Nothing of it stays in the way of the next one.
  const third = await harness.capture();
  expect(third.report.changes).toEqual([]);
});

test('files that are not captured any more are listed as deleted, and it is said that they are there', async () => {
  await using harness = await createHarness({ changes: true, maxFileBytes: 1000 });
  harness.sh(
    `${NEW}; seq 20 > .env; seq 90 > moved; echo small > big; echo gone > gone; mkdir in; echo i > in/i`,
  );
  await harness.capture();
  harness.sh(
    'printf ".env\nmoved\n" > .gitignore; cp moved new; head -c 2000 /dev/zero > big; rm gone; git init -q in',
    'app',
  );
  const changes = changesOf(await harness.capture());
  expect(changes.files.map(({ change, path, from = '' }) => `${change} ${from} ${path}`)).toEqual([
    'deleted  .env',
    'added  .gitignore',
    'deleted  big',
    'deleted  gone',
    'deleted  in/i',
    'renamed moved new',
  ]);
  expect(changes.problem).toBe('still on disk, but not captured any more: .env, big, moved');
});

test('names are bytes: a line break, quotes, and what is no UTF-8', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  harness.sh(
    `printf x > "$(printf 'odd\\nna"me\\xff')"; printf y > 'ünicode \\xff'; mkdir -- -d; echo z > '-d/:(top)*'`,
    'app',
  );
  const { files, patch, isCut } = changesOf(await harness.capture());
  expect(files.map(({ path }) => path)).toEqual(
    ['-d/:(top)*', 'odd\\x0ana"me\\xff', 'ünicode \\x5cxff'].map((name) => name.replace('\\x0a', '\n')),
  );
  expect(isCut).toBe(false);
  expect(Buffer.from(patch).toString('latin1')).toContain('+++ "b/app/odd\\nna\\"me');
});

test('a repository without a commit, one that is new, one in a submodule, and one that went and came back', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh('mkdir app; cd app; git init -q -b main .; echo 1 > a');
  const first = await harness.capture();
  harness.sh('echo 2 >> app/a; mkdir web; cd web; git init -q .; echo w > w; echo v > v');
  harness.sh(
    'git init -q inner; cd inner; echo i > i; git add i; git commit -qm i; cd ..; git -c protocol.file.allow=always submodule --quiet add ./inner sub; rm -rf inner',
    'app',
  );
  const second = await harness.capture();
  expect(second.report.failures).toEqual([]);
  const app = changesOf(second);
  expect(app.files.find(({ path }) => path === 'a')).toMatchObject({ change: 'modified', added: 1 });
  expect(app.files.map(({ path }) => path)).not.toContain('sub/i');
  expect(changesOf(second, 'app/sub').files).toMatchObject([{ path: 'i', change: 'added', added: 1 }]);
  const web = changesOf(second, 'web');
  expect(web).toMatchObject({ total: { files: 2, added: 2, deleted: 0 } });
  expect(patchOf(web)).toContain('+++ b/web/w');
  expect(first.report.failures).toEqual([]);
});

test('what happened beside files: a branch, commits made and left behind, the index', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  harness.sh(
    'git switch -qc topic; echo 2 > b; git add b; git commit -qm two; git commit -q --allow-empty -m three; echo s > s; git add s',
    'app',
  );
  const made = changesOf(await harness.capture());
  expect(made.host).toMatchObject({
    head: { from: { branch: 'main' }, to: { branch: 'topic' } },
    branches: [{ name: 'topic', from: null }],
  });
  expect(made.files.map(({ path }) => path)).toEqual(['b', 's']);
  harness.sh('git reset -q --hard HEAD~2', 'app');
  const left = changesOf(await harness.capture());
  expect(left.host).toMatchObject({ branches: [{ name: 'topic', commitsLeft: 2 }] });
});

test('a patch that is too long is cut and marked, and its numbers are right', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  harness.sh(
    'for i in 1 2; do head -c 1700000 /dev/urandom | base64 > "text$i"; done; head -c 5000000 /dev/zero | tr "\\0" "x" > wide; echo small > zz',
    'app',
  );
  const { files, total, patch, isCut, problem } = changesOf(await harness.capture());
  const lines = Number(harness.sh('cat text1 text2 | wc -l', 'app'));
  expect(total).toEqual({ files: 4, added: lines + 1, deleted: 0 });
  expect(files.map(({ path, added }) => [path, added])).toEqual([
    ['text1', lines / 2],
    ['text2', lines / 2],
    ['wide', null],
    ['zz', 1],
  ]);
  expect(isCut).toBe(true);
  expect(problem).toBeUndefined();
  expect(patch.length).toBeGreaterThan(MIB);
  expect(patch.length).toBeLessThan(2 * MIB);
});

test('a shadow that is gone: the capture is taken, and it is said that nothing could be compared', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  harness.sh('echo not in a commit > a.txt', 'app');
  await harness.capture();
  harness.sh('rm -rf .agent-shadow; echo more >> a.txt', 'app');
  const snapshot = await harness.capture();
  expect(snapshot.repositories).toMatchObject([{ path: 'app', state: 'captured', changed: true }]);
  const changes = changesOf(snapshot);
  expect(changes).toMatchObject({
    files: [],
    total: { files: null },
    problem: 'the sandbox no longer holds the capture before this one',
  });
});

longTest('more files than are listed: the numbers are of all', async () => {
  await using harness = await createHarness({ changes: true });
  harness.sh(NEW);
  await harness.capture();
  harness.sh('mkdir many; seq 12000 | split -l 1 -a 4 - many/file-with-a-name-of-some-length-', 'app');
  const { files, total, isCut } = changesOf(await harness.capture());
  expect(total).toEqual({ files: 12_000, added: 12_000, deleted: 0 });
  expect(files).toHaveLength(2_000);
  expect(isCut).toBe(true);
});

longTest('the records of many repositories together are limited, and each keeps its list', async () => {
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

longTest(
  'of thousands of branches the first are told and the others counted, and no process is started for each',
  async () => {
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
  },
);
