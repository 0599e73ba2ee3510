/** A command that does not end in time, with children that do not want to: real processes in a local sandbox. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createSandboxes } from '../../adapters/e2b/sandboxes.ts';
import { lockWaitSeconds } from '../../adapters/git/lock-wait.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { apiKey, isAlive, startLocalE2b } from '../support/local-e2b.ts';
import { programHere } from '../support/sandbox-program.ts';
import { shared } from '../support/shared.ts';

const e2b = shared(startLocalE2b);

test.each([1, 999, 1_000, 4_000, 7_999, 30_000, 870_000])(
  'of %i ms, the wait for the lock leaves time for the work, and is a second at the least',
  (timeoutMs) => {
    const waitMs = lockWaitSeconds(timeoutMs) * 1000;
    expect(waitMs).toBeGreaterThanOrEqual(1_000);
    if (waitMs > 1_000) expect(timeoutMs - waitMs).toBeGreaterThanOrEqual(timeoutMs / 5);
  },
);

/** A sandbox with a repository, in which `git` is this script. */
const sandboxWith = async (script: (home: string) => string) => {
  const sandboxes = createSandboxes({ apiKey, apiUrl: e2b().url, sandboxUrl: e2b().url });
  const sandbox = await sandboxes.create({ tags: {}, timeoutMs: 120_000 });
  const home = e2b().rootfs(sandbox.sandboxId, 'home/user');
  await mkdir(`${home}/work/repository/.git/objects`, { recursive: true });
  await writeFile(`${home}/work/repository/.git/HEAD`, 'ref: refs/heads/main\n');
  await mkdir(`${home}/bin`, { recursive: true });
  await writeFile(`${home}/bin/git`, script(home), { mode: 0o755 });
  return {
    home,
    sandbox,
    // The daemon's end comes later: a busy machine may take long to start a process.
    patient: {
      ...sandbox,
      run: (command: string, options: { cwd?: string }) =>
        sandbox.run(`PATH=${home}/bin:$PATH\n${command}`, { ...options, timeoutMs: 60_000 }),
    },
    [Symbol.asyncDispose]: async () => void (await sandboxes.kill(sandbox.sandboxId)),
  };
};

/** Holds a lock, tells who it is, and stays. */
const stubborn = (home: string): string =>
  `#!/bin/bash\ntrap '' TERM INT HUP\nexec 8> ${home}/lock\nflock 8\necho $$ > ${home}/pid\nexec sleep 300\n`;

const killer = (): string => '#!/bin/bash\nkill -KILL 0\n';

type Stubborn = Awaited<ReturnType<typeof sandboxWith>>;

/** It got the signal; a busy machine may take its time to bury it. */
const expectGone = async ({ home, sandbox }: Stubborn): Promise<void> => {
  const pid = Number(await readFile(`${home}/pid`, 'utf8'));
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
  const free = await sandbox.run(`flock -n ${home}/lock echo free`, { timeoutMs: 20_000 });
  expect(free.stdout).toBe('free\n');
};

test('the program ends a stubborn child at its deadline, and itself', async () => {
  await using place = await sandboxWith(stubborn);
  const request = { maxDepth: 3, detail: true, kind: 'survey' } as const;
  const where = { projectsRoot: '/home/user/work', timeoutMs: 6_000 };
  await expect(
    programHere().call(place.patient, request, SANDBOX_REPORTS.survey, where),
  ).rejects.toMatchObject({
    name: 'SandboxUnavailable',
    retryable: true,
    details: { exitCode: 124 },
  });
  await expectGone(place);
});

test('git that is killed each time is a fault of the program, which names the repository', async () => {
  await using place = await sandboxWith(killer);
  const request = { maxDepth: 3, detail: true, kind: 'survey' } as const;
  const where = { projectsRoot: '/home/user/work', timeoutMs: 60_000 };
  await expect(
    programHere().call(place.patient, request, SANDBOX_REPORTS.survey, where),
  ).rejects.toMatchObject({
    name: 'SandboxUnavailable',
    message: expect.stringContaining('repository was ended by a signal'),
    details: { exitCode: 75 },
  });
});
