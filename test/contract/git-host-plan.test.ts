/** Plans and diffs say what happens to HEAD, branches, index and an operation in progress, not only to files. */
import { expect } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { createHarness, type Snapshot } from '../support/git-harness.ts';
import { inTurn } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

const test = inTurn('git-host-plan');

const stateOf = (snapshot: Snapshot) => snapshot.repositories.find(({ path }) => path === 'app');

test('a rollback that leaves a branch and commits behind says so, before and after, and a diff too', async () => {
  await using harness = await createHarness();
  harness.sh('mkdir app; cd app; git init -q -b main .; echo 1 > a; git add a; git commit -qm one');
  const first = await harness.capture();
  const one = harness.sh('git rev-parse HEAD', 'app').trim();
  harness.sh(
    'git switch -qc topic; git commit -q --allow-empty -m two; echo 2 > b; git add b; git commit -qm three; git branch old main; rm b; git rm -q --cached b; git commit -qm four; echo s > staged; git add staged; git branch -f main HEAD~1',
    'app',
  );
  const [tip, before] = harness.sh('git rev-parse HEAD; git rev-parse HEAD~1', 'app').trim().split('\n');
  const host = {
    head: {
      from: { kind: 'branch', branch: 'topic', commit: tip },
      to: { kind: 'branch', branch: 'main', commit: one },
      commitsMade: 0,
    },
    branches: [
      { name: 'main', from: before, to: one, commitsLeft: 2 },
      { name: 'old', from: one, to: null, commitsLeft: 0 },
      { name: 'topic', from: tip, to: null, commitsLeft: 3 },
    ],
    index: { entries: 1 },
  };
  const planned = await harness.rollback(first, { dryRun: true });
  expect(planned.report.repositories).toMatchObject([{ path: 'app', action: 'restored', host }]);
  const onlyFiles = await harness.rollback(first, { dryRun: true, filesOnly: true });
  expect(onlyFiles.report.repositories[0]?.host).toBeUndefined();

  const [from, to] = [stateOf(planned.undo), stateOf(first)];
  const [difference] = await createRepositories(programHere()).diff(harness.sandbox, {
    projectsRoot: harness.root,
    sessionId: 's1',
    pairs: [
      {
        path: 'app',
        from: from?.tree ?? null,
        to: to?.tree ?? null,
        fromMeta: from?.meta ?? null,
        toMeta: to?.meta ?? null,
      },
    ],
    statOnly: true,
    maxBytes: 1000,
    timeoutMs: 60_000,
  });
  expect(difference).toMatchObject({ path: 'app', host });
  const done = await harness.rollback(first);
  expect(done.report).toMatchObject({ outcome: 'applied', repositories: [{ action: 'restored', host }] });
});

test('a merge with a conflict that is left, and is there again', async () => {
  await using harness = await createHarness();
  harness.sh(
    'mkdir app; cd app; git init -q -b main .; echo 1 > a; git add a; git commit -qm one; git switch -qc topic; echo 2 > a; git commit -qam two; git switch -q main; echo 3 > a; git commit -qam three',
  );
  const first = await harness.capture();
  harness.sh('git merge topic || true', 'app');
  const { report, undo } = await harness.rollback(first);
  expect(report.repositories[0]?.host).toEqual({
    branches: [],
    index: { entries: 1 },
    operation: { from: 'merge', to: null },
  });
  const back = await harness.rollback(undo, { dryRun: true });
  expect(back.report.repositories[0]?.host).toMatchObject({ operation: { from: null, to: 'merge' } });
});

test('where only the host state differs, it is a change; where nothing does, none', async () => {
  await using harness = await createHarness();
  harness.sh('mkdir app; cd app; git init -q -b main .; echo 1 > a; git add a; git commit -qm one');
  const first = await harness.capture();
  harness.sh('git switch -q --detach', 'app');
  const { report } = await harness.rollback(first);
  expect(report.repositories).toMatchObject([
    {
      action: 'restored',
      written: 0,
      deleted: 0,
      host: { head: { from: { kind: 'detached', branch: null } } },
    },
  ]);
  const again = await harness.rollback(first);
  expect(again.report.repositories[0]?.action).toBe('unchanged');
  expect(again.report.repositories[0]?.host).toBeUndefined();
});

test('a detached HEAD: the commits that come with it, and those that nothing holds after it', async () => {
  await using harness = await createHarness();
  harness.sh('mkdir app; cd app; git init -q -b main .; echo 1 > a; git add a; git commit -qm one');
  const first = await harness.capture();
  harness.sh(
    'git switch -q --detach; git commit -q --allow-empty -m two; git commit -q --allow-empty -m three',
    'app',
  );
  const { report, undo } = await harness.rollback(first);
  expect(report.repositories[0]?.host?.head).toMatchObject({ commitsMade: 0, commitsLeft: 2 });
  const back = await harness.rollback(undo, { dryRun: true });
  expect(back.report.repositories[0]?.host?.head).toMatchObject({ commitsMade: 2 });
  expect(back.report.repositories[0]?.host?.head?.commitsLeft).toBeUndefined();
});

test('plan and answer name what a returning .gitignore no longer ignores, and nothing else', async () => {
  await using harness = await createHarness();
  harness.sh(
    "mkdir app; cd app; git init -q -b main .; printf '*.o\\nkept/\\n' > .gitignore; git add .; git commit -qm one; mkdir kept; echo k > kept/k; echo o > a.o",
  );
  const first = await harness.capture();
  harness.sh(
    "printf '.env\\nbuild/\\n*.log\\n' >> .gitignore; echo secret > .env; mkdir -p build/deep logs 'odd name'; echo b > build/deep/b; echo l > logs/one.log; echo l > logs/two.log; echo o > logs/x.o; echo l > 'odd name/three.log'",
    'app',
  );
  const second = await harness.capture();
  const planned = await harness.rollback(first, { dryRun: true });
  const { report } = await harness.rollback(first);
  expect(report.outcome).toBe('applied');
  for (const { warnings } of [planned.report, report]) {
    const exposed = warnings.map(
      (text) => /^app: (.*) stays, and the rules that come back/.exec(text)?.[1] ?? text,
    );
    expect(exposed.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      '.env',
      'build/',
      'logs/one.log',
      'logs/two.log',
      'odd name/three.log',
    ]);
  }
  // Where the rules come that ignore more, nothing is exposed; and where none differ, nothing is said.
  for (const dryRun of [true, false]) {
    const forward = await harness.rollback(second, { dryRun });
    expect(forward.report.warnings.filter((text) => text.includes('rules that come back'))).toEqual([]);
  }
  expect(harness.sh('cat .env', 'app')).toBe('secret\n');
});

test('a branch and a HEAD that cannot be read are replaced, and plan and answer say where the old files are', async () => {
  await using harness = await createHarness();
  harness.sh(
    'for n in app head other; do git init -q -b main $n; cd $n; echo 1 > a; git add a; git commit -qm one; git branch side; cd ..; done',
  );
  const first = await harness.capture();
  harness.sh(
    'echo garbage > app/.git/refs/heads/main; echo rubbish > head/.git/HEAD; echo waste > other/.git/refs/heads/side',
  );
  const tip = harness.sh('git rev-parse side', 'app').trim();
  const plan = (await harness.rollback(first, { dryRun: true })).report;
  const { report } = await harness.rollback(first);
  expect([plan.outcome, report.outcome]).toEqual(['planned', 'applied']);
  const place = `${harness.root}/.agent-shadow/parked-s1/broken`;
  for (const { warnings, repositories } of [plan, report]) {
    expect(warnings.toSorted()).toEqual(
      ['app: the file of branch main', 'head: the file of HEAD', 'other: the file of branch side'].map(
        (what) => `${what} cannot be read and is replaced; the old one is put into ${place}`,
      ),
    );
    const main = { name: 'main', from: null, to: tip, commitsLeft: 0 };
    expect(repositories.find(({ path }) => path === 'app')).toMatchObject({
      action: 'restored',
      host: {
        head: { from: { kind: 'unborn', branch: 'main', commit: null }, to: { kind: 'branch', commit: tip } },
        branches: [main],
      },
    });
    expect(Object.fromEntries(repositories.map(({ path, action }) => [path, action]))).toEqual({
      app: 'restored',
      head: 'restored',
      other: 'restored',
    });
  }
  expect(harness.sh(`cat ${place}/*/* | sort; cat */.git/HEAD`).split('\n').slice(0, 3)).toEqual([
    'garbage',
    'rubbish',
    'waste',
  ]);
});
