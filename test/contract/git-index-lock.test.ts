/** A rollback holds the agent's index locked while it builds a new one, and leaves no lock wherever it is killed. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLeftovers } from '../../adapters/git/leftovers.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, TWO_FILES, world } from '../support/git-repositories.ts';
import { runSync } from '../support/run-sync.ts';
import { programHere } from '../support/sandbox-program.ts';
import { type Fault, tracedProgram, whyUntraced } from '../support/traced-program.ts';

const leftovers = createLeftovers(programHere());

/** Text after which git is itself, but for the program's first call that matches: there, another process stages a file. */
const stagingGit = (call: string) => {
  const git = runSync('/bin/bash', ['-c', 'command -v git'], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
  }).trim();
  const directory = mkdtempSync(join(tmpdir(), 'walkback-staging-'));
  mkdirSync(`${directory}/bin`);
  const path = `${directory}/bin/git`;
  writeFileSync(
    path,
    `#!/bin/sh
case "$GIT_INDEX_FILE:$*" in ${call})
  if rmdir ${directory}/armed 2>/dev/null; then
    ( cd "$(cat ${directory}/where)" && echo mine > staged && env -i PATH="$PATH" HOME=/ ${git} add staged
      echo $?; rm staged ) > ${directory}/said 2>&1
  fi ;;
esac
exec ${git} "$@"
`,
  );
  chmodSync(path, 0o755);
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
};

/** Changes of the second checkpoint; the program's first git on its new index; what makes git look at all files. */
const MOMENTS = [
  ['built anew', 'echo two > a.txt; git add a.txt', '*new-host-index:*read-tree*', ':'],
  [
    'refreshed',
    'printf "two\\r\\n" > a.txt',
    '*new-host-index:*update-index*--refresh*',
    'git config core.autocrlf true',
  ],
] as const;

test.for(MOMENTS)(
  'git add fails while the index is %s, and nothing staged is lost',
  async ([, work, call, settings]) => {
    using staging = stagingGit(call);
    await using harness = await createHarness({
      env: { PATH: `${staging.directory}/bin:${process.env['PATH'] ?? ''}` },
    });
    harness.sh(`mkdir app; cd app; ${TWO_FILES}; ${settings}`);
    writeFileSync(`${staging.directory}/where`, `${harness.root}/app`);
    const first = await harness.capture();
    harness.sh(work, 'app');
    const second = await harness.capture(first);
    mkdirSync(`${staging.directory}/armed`);
    const { report } = await harness.rollback(first, { from: second });
    expect(existsSync(`${staging.directory}/armed`)).toBe(false);
    const said = readFileSync(`${staging.directory}/said`, 'utf8');
    expect(said).toContain('index.lock');
    expect(said).toMatch(/\n[1-9][0-9]*\n$/);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    harness.sh('echo mine > staged; git add staged; git ls-files --error-unmatch staged', 'app');
  },
);

const NEXT = ['capture', 'rollback', 'settle'] as const;

const locks = (harness: Harness): string[] =>
  readdirSync(`${harness.root}/app/.git`).filter((name) => name.startsWith('index.'));

/** What is done to files of these names, and the so-manieth call about it. */
const CALLS = [
  ['index.lock', 1],
  ['index.lock', 2],
  ['index.walkback-new', 1],
  ['index.walkback-new', 2],
  ['index', 1],
  ['new-host-index', 1],
] as const;

test.for(NEXT)(
  'a rollback that was killed while it held the index leaves no lock to the next %s',
  { timeout: 600_000 },
  async (next, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    await using harness = await createHarness({ prefix: traced.prefix });
    harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh('echo more > more; git add more', 'app');
    const after = world(harness, ['app']);
    const second = await harness.capture(first);
    const seen = { locked: 0 };
    for (const [about, at] of CALLS) {
      for (const does of ['before', 'after'].map((when) => ({ kind: 'kill', when }) as Fault)) {
        const name = `killed ${JSON.stringify(does)} at call ${at} about ${about}`;
        const from = await harness.capture(first);
        const { told } = await traced.during(harness.root, { about, at, does }, () =>
          harness.rollback(first, { from }).catch(() => undefined),
        );
        expect(
          told.some(({ done }) => done.length > 0),
          name,
        ).toBe(true);
        if (locks(harness).includes('index.lock')) seen.locked += 1;
        if (next === 'capture') await harness.capture();
        else if (next === 'rollback') await applies(harness, first);
        else await harness.settle(from, first);
        expect(locks(harness), name).toEqual([]);
        harness.sh('git add -A', 'app');
        await applies(harness, first);
        expect(world(harness, ['app']), name).toEqual(before);
        await applies(harness, second);
        expect(world(harness, ['app']), name).toEqual(after);
        expect(existsSync(`${harness.root}/.agent-shadow/begun-s1`), name).toBe(false);
      }
    }
    expect(seen.locked).toBeGreaterThan(0);
  },
);

test('a lock that another process made meanwhile stays, also where a rollback was killed that would have made one', async ({
  skip,
}) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
  const first = await harness.capture();
  harness.sh('echo more > more; git add more', 'app');
  const from = await harness.capture(first);
  const planned = { about: 'index.lock', at: 1, does: { kind: 'kill', when: 'before' } } as const;
  await traced.during(harness.root, planned, () => harness.rollback(first, { from }).catch(() => undefined));
  harness.sh('touch .git/index.lock', 'app');
  await harness.capture();
  expect(locks(harness)).toEqual(['index.lock']);
  rmSync(`${harness.root}/app/.git/index.lock`);
  await applies(harness, first);
});

test('a lock that is left goes with what else a session left that is over', async ({ skip }) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
  const first = await harness.capture();
  harness.sh('echo more > more; git add more', 'app');
  const from = await harness.capture(first);
  const planned = { about: 'index.lock', at: 1, does: { kind: 'kill', when: 'after' } } as const;
  await traced.during(harness.root, planned, () => harness.rollback(first, { from }).catch(() => undefined));
  expect(locks(harness)).toEqual(['index.lock']);
  const request = { projectsRoot: harness.root, maxDepth: 8, ended: ['s1'], timeoutMs: 60_000 };
  await leftovers(harness.sandbox, { ...request, remove: false });
  expect(locks(harness)).toEqual(['index.lock']);
  await leftovers(harness.sandbox, { ...request, remove: true });
  expect(locks(harness)).toEqual([]);
});
