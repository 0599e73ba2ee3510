/** Sandboxes with neither bash nor programs of GNU (Alpine), and sandboxes on arm64. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandPath } from '../support/command-path.ts';
import { broughtBack, busyboxRoot, capturesIn, emulated } from '../support/git-elsewhere.ts';
import { TWO_FILES } from '../support/git-repositories.ts';
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
