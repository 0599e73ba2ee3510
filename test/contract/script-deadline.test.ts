/** A command that does not end in time, with children that do not want to: real processes in a local sandbox. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxes } from '../../adapters/e2b/sandboxes.ts';
import { buildScript } from '../../adapters/git/script.ts';
import { scriptDeadline } from '../../adapters/git/script-deadline.ts';
import { apiKey, isAlive, startLocalE2b } from '../support/local-e2b.ts';

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

test('a child that ignores the request to end is dead, and its lock free, before the daemon kills its parent', async () => {
  const sandboxes = createSandboxes({ apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url });
  const sandbox = await sandboxes.create({ tags: {}, timeoutMs: 120_000 });
  const home = e2b.rootfs(sandbox.sandboxId, 'home/user');
  await mkdir(`${home}/work/repository/.git`, { recursive: true });
  await mkdir(`${home}/bin`, { recursive: true });
  // The first program the command starts holds a lock, tells who it is, and stays.
  const stubborn = `#!/bin/bash\ntrap '' TERM INT HUP\nexec 8> ${home}/lock\nflock 8\necho $$ > ${home}/pid\nexec sleep 300\n`;
  for (const name of ['find', 'git']) await writeFile(`${home}/bin/${name}`, stubborn, { mode: 0o755 });
  const { command } = buildScript('survey', { MAX_DEPTH: 3, DETAIL: 0 }, { mark: 'm', timeoutMs: 6_000 });
  const result = await sandbox.run(`PATH=${home}/bin:$PATH\n${command}`, {
    cwd: '/home/user/work',
    // That the daemon's end comes a second later is shown above; a busy machine may take longer than that to start a process.
    timeoutMs: 60_000,
  });
  // `timeout` said so, not the daemon, which would have been an error.
  expect([result.exitCode, result.stderr]).toEqual([124, '']);
  // It got the signal; a busy machine may take its time to bury it.
  const pid = Number(await readFile(`${home}/pid`, 'utf8'));
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
  const free = await sandbox.run(`flock -n ${home}/lock echo free`, { timeoutMs: 20_000 });
  expect(free.stdout).toBe('free\n');
  await sandboxes.kill(sandbox.sandboxId);
});

test('the whole group killed by somebody else is an end like any other, and repeats no command', async () => {
  const sandboxes = createSandboxes({ apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url });
  const sandbox = await sandboxes.create({ tags: {}, timeoutMs: 120_000 });
  const home = e2b.rootfs(sandbox.sandboxId, 'home/user');
  await mkdir(`${home}/work/repository/.git`, { recursive: true });
  await mkdir(`${home}/bin`, { recursive: true });
  const killer = '#!/bin/bash\nkill -KILL 0\n';
  for (const name of ['find', 'git']) await writeFile(`${home}/bin/${name}`, killer, { mode: 0o755 });
  const { command } = buildScript('survey', { MAX_DEPTH: 3, DETAIL: 0 }, { mark: 'm', timeoutMs: 20_000 });
  const result = await sandbox.run(`PATH=${home}/bin:$PATH\n${command}`, {
    cwd: '/home/user/work',
    timeoutMs: 20_000,
  });
  expect([result.exitCode, result.stderr]).toEqual([137, '']);
  await sandboxes.kill(sandbox.sandboxId);
});
