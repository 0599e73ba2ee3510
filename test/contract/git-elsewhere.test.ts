/** Sandboxes with neither bash nor programs of GNU (Alpine), and sandboxes on arm64. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { blameRequest } from '../support/blame-request.ts';
import { commandPath } from '../support/command-path.ts';
import { broughtBack, busyboxRoot, capturesIn, emulated } from '../support/git-elsewhere.ts';
import { applies, rebuilds, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { runSync } from '../support/run-sync.ts';
import { programHere, programSent } from '../support/sandbox-program.ts';

const busybox = commandPath('busybox') ?? '';
const emulator = commandPath('qemu-aarch64-static') ?? '';

/** Commits have the same id everywhere. */
const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'agent'],
    [`GIT_${who}_EMAIL`, 'agent@example.com'],
    [`GIT_${who}_DATE`, '2026-01-01T00:00:00Z'],
  ]),
);

/** Bash of this machine, as an agent elsewhere would work. */
const sh = (script: string, cwd: string): string =>
  runSync('/bin/bash', ['-euc', script], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', ...IDENTITY },
  });

const MAKE = `for name in app lib; do mkdir $name; (cd $name; ${TWO_FILES}; mkdir empty); done`;
const WORK = `cd app; echo two >a.txt; rm src/main.c; ln -s a.txt link; chmod +x a.txt; printf odd >$'n\\xfb\\n'
git checkout -qb topic; git add -A; git commit -qm two; echo staged >staged; git add staged`;

/** What the checkpoints of some work bring back. */
const workIn = async (root: string, capture: ReturnType<typeof capturesIn>) => {
  sh(MAKE, root);
  const reports = [await capture()];
  sh(WORK, root);
  reports.push(await capture());
  const states = reports.map(({ repositories, failures, skipped }) => ({
    failures,
    skipped,
    repositories: repositories.map(({ path, state, tree, meta, changed, chain }) => ({
      path,
      state,
      tree,
      meta,
      changed,
      chain,
    })),
  }));
  return { states, brought: broughtBack(reports) };
};

/** On this machine. */
const workHere = async () => {
  const root = mkdtempSync(join(tmpdir(), 'walkback-here-'));
  const sandbox = processSandbox({ PATH: process.env['PATH'] ?? '', HOME: root });
  try {
    return await workIn(root, capturesIn(programHere(), sandbox, root));
  } finally {
    rmSync(root, { recursive: true });
  }
};

test.skipIf(busybox === '' || NEEDS_MOUNT.skip)(
  'a sandbox with nothing but busybox and git takes checkpoints',
  async () => {
    using elsewhere = busyboxRoot(busybox);
    const { root, sandbox, projectsRoot } = elsewhere;
    expect(elsewhere.programs()).toContain('sh');
    expect(elsewhere.programs()).not.toContain('bash');
    const there = await workIn(root, capturesIn(programSent(), sandbox, projectsRoot));
    const here = await workHere();
    expect(there).toEqual(here);
    expect(there.brought[1]?.['app']).toContain('link');
    expect(there.states[1]?.repositories.map(({ changed }) => changed)).toEqual([true, false]);
  },
);

test.skipIf(busybox === '' || NEEDS_MOUNT.skip)(
  'a sandbox with nothing but busybox and git says who wrote a line, compares a file and counts loose files',
  async () => {
    using elsewhere = busyboxRoot(busybox);
    const { root, sandbox, projectsRoot } = elsewhere;
    const repositories = createRepositories(programSent());
    const capture = capturesIn(programSent(), sandbox, projectsRoot);
    sh(`${MAKE}; printf 'one\\ntwo\\n' > app/lines`, root);
    const from = (await capture()).repositories.find(({ path }) => path === 'app')?.tree ?? '';
    sh('sed -i s/two/TWO/ app/lines; echo loose > loose', root);
    const to = (await capture()).repositories.find(({ path }) => path === 'app')?.tree ?? '';
    const common = { projectsRoot, sessionId: 's1', timeoutMs: 60_000 };
    const nodes = [
      { tree: from, parents: [] },
      { tree: to, parents: [0] },
    ];
    const blamed = await repositories.blame(sandbox, blameRequest(projectsRoot, nodes, { file: 'lines' }));
    expect(blamed).toMatchObject({
      lines: [{ source: 0 }, { source: 1 }],
      sources: [{ node: 0 }, { node: 1 }],
    });
    const trees = ['app', 'lib'].map((path) => ({ path, tree: to }));
    expect(await repositories.findFile(sandbox, { ...common, file: 'lines', trees })).toEqual(['app']);
    const file = { file: 'lines', context: 1 };
    const pairs = [{ path: 'app', from, to }];
    const [told] = await repositories.diff(sandbox, {
      ...common,
      pairs,
      file,
      statOnly: false,
      maxBytes: 1000,
    });
    expect(told?.diff).toContain(' one\n-two\n+TWO\n');
    const few = { include: [], exclude: [], mostFiles: 9, maxFileBytes: 100 };
    expect(await repositories.countLooseFiles(sandbox, { ...common, ...few })).toEqual({
      files: 1,
      bytes: 6,
    });
  },
);

test.skipIf(emulator === '')(
  'the program for arm64 rolls back, undoes, merges and fills a fresh sandbox',
  async () => {
    const top = mkdtempSync(join(tmpdir(), 'walkback-arm64-'));
    try {
      await using harness = await withTwoFiles(['app', 'lib'], { program: emulated(emulator, top) });
      const first = await harness.capture();
      const before = world(harness, ['app', 'lib']);
      harness.sh(WORK);
      const after = world(harness, ['app', 'lib']);
      const { undo } = await applies(harness, first);
      expect(world(harness, ['app', 'lib'])).toEqual(before);
      await applies(harness, undo);
      expect(world(harness, ['app', 'lib'])).toEqual(after);
      await applies(harness, first);
      harness.sh('echo mine > lib/mine');
      await harness.capture();
      const { merged } = await harness.compose([{ base: first, theirs: undo }]);
      await applies(harness, merged);
      expect(harness.sh('cat lib/mine app/a.txt')).toBe('mine\ntwo\n');
      await rebuilds(harness, merged);
      expect(harness.sh('cat lib/mine app/a.txt')).toBe('mine\ntwo\n');
    } finally {
      rmSync(top, { recursive: true });
    }
  },
);

test.skipIf(emulator === '')('the program for arm64 captures what the one for x64 captures', async () => {
  const top = mkdtempSync(join(tmpdir(), 'walkback-arm64-'));
  try {
    const sandbox = processSandbox({ PATH: process.env['PATH'] ?? '', HOME: top });
    const root = join(top, 'projects');
    sh(`mkdir ${root}`, '/');
    const there = await workIn(root, capturesIn(emulated(emulator, top), sandbox, root));
    expect(there).toEqual(await workHere());
  } finally {
    rmSync(top, { recursive: true });
  }
});
