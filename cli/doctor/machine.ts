/**
 * What this machine has: the program's own Node, and what is needed in a sandbox (locally, the sandbox is this
 * machine).
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isAtLeast } from '../../core/shared/versions.ts';
import { findDynamoDb } from '../../local/dynamodb/binary.ts';
import { requireShortPath } from '../../local/dynamodb/server.ts';
import { IS_PACKAGED } from '../../local/program.ts';
import { DEAD_LETTERS_FILE } from '../../local/streams/dead-letters.ts';
import { formatBytes } from '../../present/text.ts';
import { type Check, check } from './check.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NODE: readonly [number, number] = IS_PACKAGED ? [20, 0] : [24, 0];
const WANTED_BYTES = 1024 ** 3;
/** The failure is not one of permission: there is no room, or no more for this user. */
const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first line of its output; undefined when the command is not there. */
const said = async (command: string, args: string[], env: Environment): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)(command, args, { env: { ...env }, timeout: 10_000 });
    return stdout.split('\n')[0] ?? '';
  } catch {
    return undefined;
  }
};

const LEAST_GIT = [2, 25] as const;

const git = async (env: Environment): Promise<Check> => {
  const line = await said('git', ['--version'], env);
  return check(
    'git',
    line !== undefined && isAtLeast(line, LEAST_GIT),
    line ?? 'not found on PATH',
    `install git ${LEAST_GIT.join('.')} or newer, and see that PATH has it first`,
  );
};

/** E2B's SDK starts every command with bash, and large bundles travel by curl: any version will do. */
const present = async (id: 'bash' | 'curl', env: Environment): Promise<Check> => {
  const line = await said(id, ['--version'], env);
  return check(id, line !== undefined, line ?? 'not found on PATH', `install ${id}`);
};

/** The directory or, if it does not exist yet, the one in which it would be made. */
const existing = async (path: string): Promise<string> =>
  (await stat(path).catch(() => undefined)) === undefined && dirname(path) !== path
    ? existing(dirname(path))
    : path;

const dataDirectory = async (dataDir: string): Promise<Check> => {
  const place = await existing(dataDir);
  const probe = join(place, `.walkback-${randomUUID()}`);
  try {
    await access(place, constants.W_OK | constants.X_OK);
    await mkdir(probe);
    await writeFile(join(probe, 'probe'), 'probe');
    const isPrivate = place !== dataDir || ((await stat(place)).mode & 0o077) === 0;
    return check(
      'data-directory',
      isPrivate,
      isPrivate ? dataDir + (place === dataDir ? '' : ' (not made yet)') : `${dataDir} is open to others`,
      `chmod 700 ${dataDir}: it holds keys and your repositories' contents`,
    );
  } catch (error) {
    const mend = isFull(error) ? `make room at ${place}` : `make ${place} writable for you`;
    return check(
      'data-directory',
      false,
      reasonOf(error),
      `${mend}, or choose another with --data or WALKBACK_DATA`,
    );
  } finally {
    await rm(probe, { recursive: true, force: true }).catch(() => undefined);
  }
};

const disk = async (dataDir: string): Promise<Check> => {
  const place = await existing(dataDir);
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  return check(
    'disk',
    free >= WANTED_BYTES,
    `${formatBytes(free)} free at ${place}`,
    `free at least ${formatBytes(WANTED_BYTES)}, or choose another place with --data; walkback clean shows what can go`,
  );
};

/**
 * What the streams of the embedded cloud could not deliver. On AWS this would be a queue of dead letters with
 * an alarm; here there is no alarm.
 */
const deadLetters = async (dataDir: string): Promise<Check> => {
  const file = join(dataDir, DEAD_LETTERS_FILE);
  const text = await readFile(file, 'utf8').catch(() => '');
  const count = text.split('\n').filter((line) => line !== '').length;
  return check(
    'dead-letters',
    count === 0,
    count === 0 ? 'none' : `${count} in ${file}`,
    'see there which function took what not, and why; when that is fixed, export the ledger again (walkback ledger backfill --from DAY) and delete the file',
  );
};

/** The embedded cloud listens on loopback. */
const loopback = async (): Promise<Check> => {
  const server = createServer();
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return check('port', true, 'ports of 127.0.0.1 can be listened on', '');
  } catch (error) {
    return check('port', false, reasonOf(error), 'allow this user to listen on ports of 127.0.0.1');
  } finally {
    server.close();
  }
};

const database = async (dataDir: string, env: Environment): Promise<Check> => {
  let found = 'none';
  try {
    const source = findDynamoDb(env);
    found = source.kind === 'binary' ? source.path : source.url;
    if (source.kind === 'binary') await requireShortPath(dataDir);
    return check('database', true, found, '');
  } catch (error) {
    return check('database', false, found, reasonOf(error));
  }
};

export const checkMachine = async (dataDir: string, env: Environment): Promise<Check[]> => [
  check('node', isAtLeast(process.version, NODE), process.version, `install Node ${NODE[0]} or newer`),
  await git(env),
  await present('bash', env),
  await present('curl', env),
  await dataDirectory(dataDir),
  await disk(dataDir),
  await deadLetters(dataDir),
  await loopback(),
  await database(dataDir, env),
];
