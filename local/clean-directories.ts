/**
 * Removes from the directories of this machine that sandboxes were mounted on what the sessions of a cloud
 * left there. Only the database of that cloud is started: a whole cloud would go on with its sagas.
 */
import { execFile } from 'node:child_process';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type {
  CleanDirectoryDeps,
  CleanedDirectory,
  MountedDirectory,
} from '../core/checkpoint/session/clean-directory.ts';
import { isWalkbackError, WalkbackError } from '../core/shared/errors.ts';
import { cleanDirectoryHere } from '../functions/clean-runtime.ts';
import manifest from '../package.json' with { type: 'json' };
import { loadCredentials } from './credentials.ts';
import { type CloudFile, lockDataDir } from './data-dir.ts';
import { startDynamoDb } from './dynamodb/server.ts';
import { mergeEnvironments, planCloud } from './plan.ts';
import { REGION } from './resolve.ts';
import { loadTemplate } from './template.ts';

/** `problem`: why it cannot be cleaned. `isGone`: there is no such directory now. */
export type DirectoryPlan =
  | (CleanedDirectory & { directory: string })
  | { directory: string; problem: string; isGone: boolean };

const MOST_OUTPUT_BYTES = 256 * 1024 ** 2;

const here: CleanDirectoryDeps['here'] = {
  run: (command, { cwd, timeoutMs }) =>
    new Promise((resolve, reject) => {
      const { PATH, HOME, TMPDIR } = process.env;
      const child = execFile(
        '/bin/sh',
        ['-c', command],
        { cwd, timeout: timeoutMs, maxBuffer: MOST_OUTPUT_BYTES, env: { PATH, HOME, TMPDIR } },
        (error, stdout, stderr) => {
          const { exitCode } = child;
          // It was not started: no shell, or no way into the directory.
          if (error !== null && typeof error.code === 'string') {
            reject(new WalkbackError('SandboxUnavailable', `a shell did not run there: ${error.message}`));
          } else resolve({ exitCode: exitCode ?? -1, stdout, stderr });
        },
      );
    }),
  async writeFiles(files) {
    for (const { path, data } of files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, data);
    }
  },
};

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

interface Opened extends AsyncDisposable {
  sessions: { tableName: string; client: DynamoDBClient } | undefined;
}

const openAt = async (
  endpoint: string,
  dataDir: string,
  close: () => Promise<void> = async () => undefined,
): Promise<Opened> => {
  const credentials = await loadCredentials(dataDir);
  const { functions } = planCloud(await loadTemplate());
  const tableName = mergeEnvironments(functions)['WALKBACK_SESSIONS_TABLE'];
  if (tableName === undefined) throw new WalkbackError('ConfigurationError', 'The template has no sessions.');
  const client = new DynamoDBClient({ region: REGION, credentials, endpoint });
  return {
    sessions: { tableName, client },
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await close();
    },
  };
};

/** The sessions of the cloud that runs, else those in the database of the directory, whose lock the caller holds. */
const openSessions = async (dataDir: string, running: CloudFile | undefined): Promise<Opened> => {
  if (running !== undefined) {
    const endpoint = running.environment['AWS_ENDPOINT_URL_DYNAMODB'];
    if (endpoint !== undefined) return openAt(endpoint, dataDir);
    throw new WalkbackError('SandboxUnavailable', `process ${running.pid} works in ${dataDir} now`);
  }
  // A deletion that broke off has removed it, after the directories were cleaned.
  if (!(await isThere(join(dataDir, 'dynamodb')))) {
    return { sessions: undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  const database = await startDynamoDb({ dataDir, credentials: await loadCredentials(dataDir) });
  try {
    return await openAt(database.url, dataDir, () => database.close());
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** Those below others first, so that each finds what is its own. */
const deepestFirst = (mounted: readonly MountedDirectory[]): MountedDirectory[] =>
  mounted.toSorted((a, b) => b.directory.length - a.directory.length);

const cleanEach = async (
  mounted: readonly MountedDirectory[],
  sessions: Opened['sessions'],
  dryRun: boolean,
): Promise<DirectoryPlan[]> => {
  const clean = cleanDirectoryHere(here, sessions);
  const plans: DirectoryPlan[] = [];
  for (const one of deepestFirst(mounted)) {
    const { directory } = one;
    if (!(await isThere(directory))) {
      plans.push({ directory, problem: 'it is not there now', isGone: true });
      continue;
    }
    const inside = mounted.filter((other) => other.directory.startsWith(`${directory}/`));
    try {
      plans.push({ directory, ...(await clean(one, inside, { dryRun })) });
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      if (!dryRun) {
        const { name, message: why, retryable } = error;
        throw new WalkbackError(name, `${directory}: ${why}`, { cause: error, retryable });
      }
      plans.push({ directory, problem: error.message, isGone: false });
    }
  }
  return plans.toSorted((a, b) => a.directory.localeCompare(b.directory));
};

/** Removes it. The caller holds the lock of the data directory. */
export const cleanDirectories = async (
  dataDir: string,
  mounted: readonly MountedDirectory[],
): Promise<DirectoryPlan[]> => {
  if (mounted.length === 0) return [];
  await using opened = await openSessions(dataDir, undefined);
  return await cleanEach(mounted, opened.sessions, false);
};

/** Says what `cleanDirectories` would remove. */
export const planDirectories = async (
  dataDir: string,
  mounted: readonly MountedDirectory[],
  running: CloudFile | undefined,
): Promise<DirectoryPlan[]> => {
  if (mounted.length === 0) return [];
  try {
    const lock = running === undefined ? await lockDataDir(dataDir, manifest.version) : undefined;
    try {
      await using opened = await openSessions(dataDir, running);
      return await cleanEach(mounted, opened.sessions, true);
    } finally {
      await lock?.release();
    }
  } catch (error) {
    if (!isWalkbackError(error)) throw error;
    return mounted.map(({ directory }) => ({ directory, problem: error.message, isGone: false }));
  }
};
