/**
 * An independent emulator of AWS, of PyPI, in a virtual environment of its own. It is started on a loopback port
 * with IAM enforced, in a process group of its own, so that its functions end with it.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PROJECT } from '../../local/program.ts';

const PINNED = ['ministack==1.5.33', 'cryptography==50.0.2'];
const VENV = join(PROJECT, 'node_modules/.cache/emulator', PINNED.join('_').replaceAll('==', '-'));
/** Any twelve digits: the emulator takes the key's id for the account, and its root for who asks. */
export const ACCOUNT = '111111111111';
export const REGION = 'us-east-1';

/** Why it cannot run here; undefined where it can. */
const missing = (): string | undefined => {
  const code = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  const { error, status } = spawnSync('python3', ['-c', code], { stdio: 'ignore' });
  if (error !== undefined) return 'there is no python3';
  return status === 0 ? undefined : 'python3 is older than 3.10, or without venv and pip';
};

/** Its Python. The packages are fetched once and kept beside the other caches. */
const install = (): string => {
  const python = join(VENV, 'bin/python');
  const done = join(VENV, 'complete');
  if (!existsSync(done)) {
    mkdirSync(dirname(VENV), { recursive: true });
    execFileSync('python3', ['-m', 'venv', '--clear', VENV], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PINNED];
    execFileSync(python, pip, { stdio: 'inherit' });
    writeFileSync(done, '');
  }
  return python;
};

/** Its Python, or why it cannot run here. */
export const findEmulator = (): { python: string } | { reason: string } => {
  const reason = missing();
  if (reason !== undefined) return { reason };
  try {
    return { python: install() };
  } catch {
    return { reason: 'the emulator could not be fetched from PyPI' };
  }
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
};

const KNOWN_TYPES = `
import json
from ministack.services.cloudformation.provisioners import _RESOURCE_HANDLERS
print(json.dumps(sorted(_RESOURCE_HANDLERS)))`;

export interface Emulator {
  url: string;
  /** For the AWS SDKs and the CDK, as the account's root. */
  environment: Readonly<Record<string, string>>;
  /** Types of resources that its CloudFormation knows. */
  types: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Ends it with its functions. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};

export const startEmulator = async (python: string, directory: string): Promise<Emulator> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(directory, 'emulator.log'), 'a');
  const child = spawn(python, ['-m', 'ministack'], {
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      // Its functions run on this Node.
      PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      HOME: directory,
      TMPDIR: directory,
      STATE_DIR: join(directory, 'state'),
      AUTH: 'true',
      LAMBDA_EXECUTOR: 'local',
      IOT_MTLS_ENABLED: '0',
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
    },
  });
  const killed = () => killGroup(child);
  process.once('exit', killed);
  const stop = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    killed();
    await ended;
    process.removeListener('exit', killed);
  };
  const isUp = () =>
    fetch(`${url}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error('the emulator ended; see emulator.log');
    await delay(200);
  }
  const types = new Set(
    JSON.parse(execFileSync(python, ['-c', KNOWN_TYPES], { encoding: 'utf8', stdio: 'pipe' })) as string[],
  );
  return {
    url,
    types,
    stop,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: ACCOUNT,
      AWS_SECRET_ACCESS_KEY: 'unused',
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  };
};
