import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandExitError } from 'e2b';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { userName } from '../../kit/machine-user.ts';
import { errorName, isAlive, startLocalE2b } from '../support/local-e2b.ts';
import { shared } from '../support/shared.ts';

const PATH = process.env['PATH'] ?? '';
const server = {
  PATH,
  AWS_SECRET_ACCESS_KEY: 'secret',
  E2B_API_KEY: 'secret',
  LD_PRELOAD: '',
  NODE_OPTIONS: '',
};

let sandbox: Awaited<ReturnType<ReturnType<typeof e2b>['sdk']['create']>>;

const e2b = shared(() => startLocalE2b(server));

beforeEach(async () => {
  sandbox = await e2b().sdk.create();
});

const until = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 60_000, interval: 20 });
const inside = (path: string): string => e2b().rootfs(sandbox.sandboxId, path);

/** The process writes its id there; that it runs is the signal. */
const pidFrom = async (path: string): Promise<number> => {
  await until(async () => expect(await readFile(inside(path), 'utf8')).toMatch(/^\d+\n$/));
  return Number(await readFile(inside(path), 'utf8'));
};

const failureOf = async (promise: Promise<unknown>): Promise<CommandExitError> => {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof CommandExitError)) throw new Error('expected a CommandExitError', { cause: error });
  return error;
};

/** The remote call itself, for what the SDK does not let one say. */
const start = async (process: object, headers: Record<string, string> = {}): Promise<Response> => {
  const file = join(e2b().dataDir, sandbox.sandboxId, 'sandbox.json');
  const { accessToken } = JSON.parse(await readFile(file, 'utf8')) as { accessToken: string };
  const message = Buffer.from(JSON.stringify({ process }));
  const length = Buffer.alloc(5);
  length.writeUInt32BE(message.length, 1);
  return fetch(`${e2b().url}/process.Process/Start`, {
    method: 'POST',
    body: Buffer.concat([length, message]),
    headers: { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': accessToken, ...headers },
  });
};

interface Message {
  event?: { data?: { stdout?: string } };
}

async function* messages(answer: Response): AsyncGenerator<Message> {
  let rest = Buffer.alloc(0);
  for await (const chunk of answer.body ?? []) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      yield JSON.parse(rest.subarray(5, end).toString()) as Message;
      rest = rest.subarray(end);
    }
  }
}

describe('a command in a local sandbox, through the real SDK', () => {
  test('gets a fixed environment and nothing of the server', async () => {
    const { stdout } = await sandbox.commands.run('env -0', { envs: { POSIXLY_CORRECT: '1', EXTRA: 'a b' } });
    const environment = Object.fromEntries(
      stdout.split('\0').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const username = userName() ?? 'user';
    expect(environment).toMatchObject({
      PATH,
      HOME: inside('home/user'),
      USER: username,
      LOGNAME: username,
      EXTRA: 'a b',
      E2B_SANDBOX_ID: sandbox.sandboxId,
    });
    expect(Object.keys(environment).sort()).toEqual(
      [
        '',
        'E2B_SANDBOX',
        'E2B_SANDBOX_ID',
        'EXTRA',
        'HOME',
        'LOGNAME',
        'PATH',
        'POSIXLY_CORRECT',
        'PWD',
        'SHLVL',
        'USER',
        '_',
      ].sort(),
    );
  });

  test('sees the environment of the sandbox, and that of the request above it', async () => {
    const other = await e2b().sdk.create({ envs: { A: 'sandbox', B: 'sandbox' } });
    const { stdout } = await other.commands.run('echo $A $B', { envs: { B: 'request' } });
    expect(stdout).toBe('sandbox request\n');
  });

  test('keeps the real home and git configuration when a directory is mounted', async () => {
    const mounted = await e2b().sdk.create({ volumeMounts: { '/work': tmpdir() } });
    const { stdout } = await mounted.commands.run('echo $HOME; echo ${GIT_CONFIG_GLOBAL-none}');
    expect(stdout).toBe(`${homedir()}\nnone\n`);
    await mounted.kill();
  });

  test('starts in the home, or where it is told, also through ..', async () => {
    expect((await sandbox.commands.run('pwd')).stdout).toBe(`${inside('home/user')}\n`);
    expect((await sandbox.commands.run('pwd', { cwd: '/tmp/../tmp' })).stdout).toBe(`${inside('tmp')}\n`);
    expect((await sandbox.commands.run('pwd', { cwd: '/../../..' })).stdout).toBe(
      `${inside('').replace(/\/$/, '')}\n`,
    );
  });

  test.each(['/nowhere', '/home/user/file', '/home/user/outside'])('refuses the cwd %s', async (cwd) => {
    await sandbox.files.write('/home/user/file', '');
    await sandbox.commands.run('ln -s /etc outside');
    expect(await errorName(sandbox.commands.run('pwd', { cwd }))).toBe('InvalidArgumentError');
  });

  test('reports how it ended', async () => {
    const failed = await failureOf(sandbox.commands.run('echo out; echo err >&2; exit 7'));
    expect(failed).toMatchObject({ exitCode: 7, stdout: 'out\n', stderr: 'err\n', error: 'exit status 7' });
    expect(await failureOf(sandbox.commands.run('kill -9 $$'))).toMatchObject({
      exitCode: -1,
      error: 'signal: killed',
    });
    expect(await failureOf(sandbox.commands.run('no-such-command'))).toMatchObject({ exitCode: 127 });
  });

  test('ends only when both outputs are closed', async () => {
    const script = '(while [ ! -e go ]; do sleep 0.05; done; echo late) & echo early';
    const seen: string[] = [];
    const running = sandbox.commands.run(script, { onStdout: (text) => void seen.push(text) });
    await until(() => expect(seen).toEqual(['early\n']));
    await writeFile(inside('home/user/go'), '');
    expect((await running).stdout).toBe('early\nlate\n');
  });

  test('gives every byte of a large output', async () => {
    const { stdout } = await sandbox.commands.run('head -c 8000000 /dev/zero | tr "\\0" x');
    expect(stdout.length).toBe(8_000_000);
    expect(stdout.replaceAll('x', '')).toBe('');
  });

  test('waits for a slow reader, and loses nothing by it', async () => {
    const total = 32_000_000;
    const answer = await start({
      cmd: '/bin/bash',
      args: ['-c', `echo $$ > pid; exec head -c ${total} /dev/zero`],
    });
    const pid = await pidFrom('home/user/pid');
    const written = async () => Number(/wchar: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
    let last = -1;
    let same = 0;
    await until(async () => {
      const now = await written();
      same = now === last ? same + 1 : 0;
      last = now;
      expect(same).toBeGreaterThan(10);
    });
    expect(last).toBeLessThan(total);
    let length = 0;
    for await (const message of messages(answer))
      length += Buffer.from(message.event?.data?.stdout ?? '', 'base64').length;
    expect(length).toBe(total);
  });

  test('has only its own process killed by its deadline; what it started goes on', async () => {
    const script = 'sleep 300 & echo $! > child; echo $$ > shell; wait';
    // A busy machine may take longer than that to start a shell: then it gets more time.
    for (let timeoutMs = 1000; !existsSync(inside('home/user/shell')); timeoutMs *= 4)
      await expect(sandbox.commands.run(script, { timeoutMs })).rejects.toThrow(/deadline_exceeded/);
    const [child, shell] = [await pidFrom('home/user/child'), await pidFrom('home/user/shell')];
    await until(() => expect(isAlive(shell)).toBe(false));
    expect(isAlive(child)).toBe(true);
    await sandbox.kill();
    expect(isAlive(child)).toBe(false);
  });

  test('goes on when its client goes away, under its own deadline, and is still listed', async () => {
    const script = 'while [ ! -e go ]; do echo tick; sleep 0.05; done; echo finished > result; sleep 300';
    // A busy machine may take longer than that to get to the result: then it gets more time.
    let seen: { started: number; listed: number[] } | undefined;
    for (let timeoutMs = 4000; !existsSync(inside('home/user/result')); timeoutMs *= 4) {
      const handle = await sandbox.commands.run(script, { background: true, timeoutMs });
      await handle.disconnect();
      seen = { started: handle.pid, listed: (await sandbox.commands.list()).map(({ pid }) => pid) };
      await writeFile(inside('home/user/go'), '');
      await until(() => expect(isAlive(handle.pid)).toBe(false));
    }
    expect(seen?.listed).toEqual([seen?.started]);
    // The sandbox hears of the end of a process a moment after the process is gone.
    await until(async () => expect(await sandbox.commands.list()).toEqual([]));
  });

  test('can be killed by its id, once', async () => {
    const handle = await sandbox.commands.run('exec sleep 300', { background: true });
    expect(await sandbox.commands.kill(handle.pid)).toBe(true);
    expect(await failureOf(handle.wait())).toMatchObject({ error: 'signal: killed' });
    expect(await sandbox.commands.kill(handle.pid)).toBe(false);
  });

  test('cannot signal a process that is not its own', async () => {
    expect(await sandbox.commands.kill(process.pid)).toBe(false);
    expect(await sandbox.commands.kill(1)).toBe(false);
  });

  test('dies with the sandbox, together with its background jobs and daemons', async () => {
    const script =
      'sleep 300 >/dev/null 2>&1 & echo $! > job; (setsid sleep 300 >/dev/null 2>&1 & echo $! > daemon)';
    await sandbox.commands.run(script);
    const handle = await sandbox.commands.run('sleep 300', { background: true, timeoutMs: 0 });
    const pids = [await pidFrom('home/user/job'), await pidFrom('home/user/daemon'), handle.pid];
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    await sandbox.kill();
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    expect(await errorName(handle.wait())).toBe('TimeoutError');
    expect(await errorName(sandbox.commands.run('true'))).toBe('SandboxNotFoundError');
  });

  test('keeps a silent stream alive', async () => {
    const answer = await start({ cmd: '/bin/sleep', args: ['300'] }, { 'keepalive-ping-interval': '1' });
    const seen: string[] = [];
    for await (const message of messages(answer)) {
      seen.push(Object.keys(message.event ?? {}).join());
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['start', 'keepalive']);
  });
});
