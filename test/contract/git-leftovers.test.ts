/** What Walkback leaves in a sandbox goes when no session needs it, and nothing else does. */
import { expect, test } from 'vitest';
import { createLeftovers } from '../../adapters/git/leftovers.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { programHere } from '../support/sandbox-program.ts';

const leftovers = createLeftovers(programHere());

const clean = (harness: Harness, ended: string[], remove = true) =>
  leftovers(harness.sandbox, { projectsRoot: harness.root, maxDepth: 8, ended, remove, timeoutMs: 60_000 });

const ours = (harness: Harness): string =>
  harness.sh('find . -name .git -prune -o -path "*.agent-shadow*" -print | sort');

const BEGIN = `
  git init -q -b main app; echo a > app/a; git init -q -b main "app/in  ner"; echo b > "app/in  ner/b"
  git init -q -b main web; echo w > web/w`;

/** Another session, a call that runs, and one that was killed long ago. */
const BESIDE = `
  cp -a app/.agent-shadow/session-s1 app/.agent-shadow/session-s2
  mkdir -p .agent-shadow/run-s1/{old,now} .agent-shadow/run-s2/{old,now} .agent-shadow/in-s1/old .agent-shadow/in
  for f in .agent-shadow/run-s*/* .agent-shadow/in-s1/old; do echo bundle > $f/bundles; done
  echo request > .agent-shadow/in/old
  touch -d '20 minutes ago' .agent-shadow/{run-s*,in-s1,in}/old
  for s in s1 s2; do echo note > .agent-shadow/journal-$s; echo note > .agent-shadow/begun-$s; mkdir app/.agent-shadow/carried-$s; done
  mkdir -p .agent-shadow/bin .agent-shadow/aside-s1/1 .agent-shadow/parked-s1/x; echo p > .agent-shadow/bin/program
  echo mine > .agent-shadow/aside-s1/1/mine`;

test('what a session that is over left goes; what others need, a running call reads or is of the user stays', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  await harness.capture();
  harness.sh(BESIDE);
  const looks = files(harness.root);
  const before = ours(harness);
  const plan = await clean(harness, ['s1'], false);
  expect(ours(harness)).toBe(before);
  expect(await clean(harness, ['s1'])).toEqual(plan);
  const removed = plan.filter(({ fate }) => fate === 'remove').map(({ path }) => path);
  expect(removed).toEqual(
    expect.arrayContaining([
      'app/.agent-shadow/session-s1',
      'app/in  ner/.agent-shadow/session-s1',
      'web/.agent-shadow/session-s1',
      'app/.agent-shadow/carried-s1',
      '.agent-shadow/begun-s1',
      '.agent-shadow/journal-s1',
      '.agent-shadow/run-s1/old',
      '.agent-shadow/run-s2/old',
      '.agent-shadow/in-s1/old',
      '.agent-shadow/in/old',
    ]),
  );
  expect(plan.find(({ path }) => path === 'web/.agent-shadow/session-s1')?.files).toBeGreaterThan(5);
  expect(plan.find(({ path }) => path === 'web/.agent-shadow/session-s1')?.bytes).toBeGreaterThan(4096);
  expect(plan.filter(({ fate }) => fate === 'keep').map(({ path, files: count }) => [path, count])).toEqual([
    ['.agent-shadow/aside-s1', 1],
    ['.agent-shadow/parked-s1', 0],
  ]);
  const left = ours(harness);
  for (const path of removed) expect(left).not.toContain(`./${path}\n`);
  for (const path of [
    'app/.agent-shadow/session-s2/HEAD',
    'app/.agent-shadow/carried-s2',
    '.agent-shadow/begun-s2',
    '.agent-shadow/journal-s2',
    '.agent-shadow/run-s1/now/bundles',
    '.agent-shadow/run-s2/now/bundles',
    '.agent-shadow/bin/program',
    '.agent-shadow/aside-s1/1/mine',
  ])
    expect(left).toContain(`./${path}\n`);
  expect(left).not.toContain('web/.agent-shadow');
  expect(files(harness.root)).toEqual(looks);
});

test('after the last session only what is of the user stays, and a session begins anew there', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const first = await harness.capture();
  const looks = files(harness.root);
  harness.sh(
    'mkdir .agent-shadow/bin; echo program > .agent-shadow/bin/p; ln -s / .agent-shadow/session-link; ln -s "$PWD/web" linked',
  );
  await clean(harness, ['s1', 'link']);
  harness.sh('rm linked');
  expect(ours(harness)).toBe('');
  expect(files(harness.root)).toEqual(looks);
  harness.sh('echo 2 > app/a; rm -r web');
  const { report } = await harness.rollback(first);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(files(harness.root)).toEqual(looks);
});

test('a folder that leads elsewhere is not entered', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  harness.sh(
    'mkdir -p ../elsewhere/session-s1; echo x > ../elsewhere/session-s1/x; ln -s ../../elsewhere app/.agent-shadow',
  );
  await clean(harness, ['s1']);
  expect(harness.sh('cat ../elsewhere/session-s1/x')).toBe('x\n');
});

test('killed at any instant, it goes on where it was', async () => {
  const prefix: string[] = [];
  await using harness = await createHarness({ prefix });
  harness.sh(BEGIN);
  let deaths = 0;
  for (let milliseconds = 0.02; ; milliseconds *= 1.4) {
    const first = await harness.capture();
    harness.sh('mkdir -p .agent-shadow/bin; echo program > .agent-shadow/bin/p');
    const looks = files(harness.root);
    prefix.push('timeout', '-s', 'KILL', String(milliseconds / 1000));
    const isDone = await clean(harness, ['s1']).then(
      () => true,
      () => false,
    );
    prefix.length = 0;
    deaths += Number(!isDone);
    await clean(harness, ['s1']);
    expect(ours(harness), `killed after ${milliseconds} ms`).toBe('');
    expect(files(harness.root)).toEqual(looks);
    harness.standOn(first);
    // The program may be done before a timer of less.
    if (isDone && milliseconds > 2) break;
  }
  expect(deaths).toBeGreaterThan(0);
});
