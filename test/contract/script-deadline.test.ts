/** A command that does not end in time, with children that do not want to: real processes in a local sandbox. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxes } from '../../adapters/e2b/sandboxes.ts';
import { restoreScript } from '../../adapters/git/restore-command.ts';
import { scriptDeadline } from '../../adapters/git/script-deadline.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { captureRequest } from '../support/capture-request.ts';
import { apiKey, isAlive, startLocalE2b } from '../support/local-e2b.ts';
import { programHere } from '../support/sandbox-program.ts';

let e2b: Awaited<ReturnType<typeof startLocalE2b>>;
beforeAll(async () => {
  e2b = await startLocalE2b();
});
afterAll(() => e2b[Symbol.asyncDispose]());

test.each([1, 999, 1_000, 4_000, 7_999, 30_000, 870_000])(
  'of %i ms: the inner end, then the kill, then a second at the most until the daemon’s',
  (timeoutMs) => {
    const { endsAfterMs, killAfterMs } = scriptDeadline(timeoutMs);
    const killed = endsAfterMs + killAfterMs;
    expect(endsAfterMs).toBeGreaterThanOrEqual(timeoutMs / 2);
    expect(killed).toBeLessThanOrEqual(timeoutMs);
    expect(timeoutMs - killed).toBe(Math.min(1_000, Math.floor(timeoutMs / 4)));
  },
);

/** A restore of nothing, which looks for repositories, as text of a command. */
const restoreText = (timeoutMs: number): string => {
  const request = {
    ...captureRequest('/home/user/work', 's1', { maxDepth: 3, timeoutMs }),
    requestId: 'r',
    repositories: [],
    filesOnly: false,
    dryRun: true,
  };
  return restoreScript(request, 'call', 'm').command;
};

/** A sandbox with a repository, in which `git` and `find` are this script. */
const sandboxWith = async (script: (home: string) => string) => {
  const sandboxes = createSandboxes({ apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url });
  const sandbox = await sandboxes.create({ tags: {}, timeoutMs: 120_000 });
  const home = e2b.rootfs(sandbox.sandboxId, 'home/user');
  await mkdir(`${home}/work/repository/.git/objects`, { recursive: true });
  await writeFile(`${home}/work/repository/.git/HEAD`, 'ref: refs/heads/main\n');
  await mkdir(`${home}/bin`, { recursive: true });
  for (const name of ['find', 'git']) await writeFile(`${home}/bin/${name}`, script(home), { mode: 0o755 });
  return {
    home,
    sandbox,
    // That the daemon's end comes a second later is shown above; a busy machine may take longer than that to start a process.
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

test('a child that ignores the request to end is dead, and its lock free, before the daemon kills its parent', async () => {
  await using place = await sandboxWith(stubborn);
  const result = await place.patient.run(restoreText(6_000), { cwd: '/home/user/work' });
  // `timeout` said so, not the daemon, which would have been an error.
  expect([result.exitCode, result.stderr]).toEqual([124, '']);
  await expectGone(place);
});

test('the native program ends a stubborn child at its deadline, and itself', async () => {
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

test('the whole group killed by somebody else is an end like any other, and repeats no command', async () => {
  await using place = await sandboxWith(killer);
  const result = await place.patient.run(restoreText(20_000), { cwd: '/home/user/work' });
  expect([result.exitCode, result.stderr]).toEqual([137, '']);
});

test('git that is killed each time is a fault of the native program, which names the repository', async () => {
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
