/** Deletes what an embedded cloud keeps, and nothing else that lies in its directory. */
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { MountedDirectory } from '../core/checkpoint/session/clean-directory.ts';
import manifest from '../package.json' with { type: 'json' };
import { CREDENTIALS_FILE, hasCredentials } from './credentials.ts';
import { IGNORED, lockDataDir } from './data-dir.ts';
import { readRecord, type SandboxRecord } from './e2b/sandbox-record.ts';
import { isMissing } from './private-file.ts';
import { DEAD_LETTERS_FILE } from './streams/dead-letters.ts';

/** Everything that the cloud and the command keep in a data directory. */
const KEPT = [
  'daemon.log',
  DEAD_LETTERS_FILE,
  'dynamodb',
  'e2b',
  'events.jsonl',
  'functions.json',
  'hooks.curl',
  'hooks.json',
  'logins.json',
  'notified.json',
  'notify.json',
  's3',
  'signing-keys.json',
  'stepfunctions',
  'streams',
  'token-key.json',
  'token-key-rsa.json',
  // Made by the first start of a cloud, and deleted last. A directory without this file belongs to somebody
  // else.
  CREDENTIALS_FILE,
];

/** Where the client's `serveTools` keeps its data, one directory for each tool. */
const TOOLS = 'tools';
const TOMBSTONES = 'tombstones';

/** Names below the data directory. A project may have a directory `tools` of its own there. */
const keptNames = async (dataDir: string): Promise<string[]> => {
  // Other programs may have a file of that name too.
  if (!(await hasCredentials(dataDir).catch(() => false))) return [];
  const served = await readdir(join(dataDir, TOOLS), { withFileTypes: true }).catch(() => []);
  const ours = served.filter(
    (entry) => entry.isDirectory() && existsSync(join(dataDir, TOOLS, entry.name, TOMBSTONES)),
  );
  // One that says anything else is somebody's own.
  const rules = await readFile(join(dataDir, IGNORED.name), 'utf8').catch(() => '');
  return [
    ...ours.map(({ name }) => join(TOOLS, name)),
    ...(rules === IGNORED.text ? [IGNORED.name] : []),
    ...KEPT,
  ];
};

export interface KeptEntry {
  name: string;
  bytes: number;
}

/** Files of a running cloud may disappear while they are looked at. */
const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
};

const bytesOf = async (path: string): Promise<number> => {
  // A link counts itself, not its target: a mount of a sandbox is a directory of the user's.
  const facts = await lstat(path);
  if (!facts.isDirectory()) return facts.size;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) =>
    entry.isFile() ? sizeOf(join(entry.parentPath, entry.name)) : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** What would be deleted. Empty when no cloud was ever here, whatever else is in the directory. */
export const listKept = async (dataDir: string): Promise<KeptEntry[]> => {
  const found: KeptEntry[] = [];
  for (const name of await keptNames(dataDir)) {
    try {
      found.push({ name, bytes: await bytesOf(join(dataDir, name)) });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return found;
};

/**
 * A sandbox with files of its own, made from a checkpoint: a review copy, a fork, or the place where a
 * session went on.
 */
export interface KeptSandbox {
  sandboxId: string;
  sessionId: string;
}

const recordsIn = async (dataDir: string): Promise<SandboxRecord[]> => {
  const directory = join(dataDir, 'e2b');
  const names = await readdir(directory).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const records = names
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => readRecord(join(directory, name)));
  return (await Promise.all(records)).filter((record) => record !== undefined);
};

/** Deleting these loses work that no checkpoint holds, which a sum of bytes does not show. So they are listed. */
export const listKeptSandboxes = async (dataDir: string): Promise<KeptSandbox[]> =>
  (await recordsIn(dataDir)).flatMap(({ sandboxId, metadata }) => {
    const sessionId = metadata['walkback-session'];
    return sessionId === undefined ? [] : [{ sandboxId, sessionId }];
  });

/** Directories of this machine that sandboxes are mounted on. */
export const listMounted = async (dataDir: string): Promise<MountedDirectory[]> => {
  const paths = new Map<string, Set<string>>();
  for (const { path, directory } of (await recordsIn(dataDir)).flatMap(({ mounts }) => mounts)) {
    paths.set(directory, (paths.get(directory) ?? new Set()).add(path));
  }
  return [...paths].map(([directory, seen]) => ({ directory, paths: [...seen] }));
};

/**
 * Throws `ConfigurationError` when a cloud runs there. An interrupted deletion is completed by the next one.
 * `before` is called when no cloud can start there any more, and answers what this answers.
 */
export const deleteKept = async <T>(dataDir: string, before: () => Promise<T>): Promise<T> => {
  const lock = await lockDataDir(dataDir, manifest.version);
  let answer: T;
  try {
    answer = await before();
    for (const name of await keptNames(dataDir)) {
      await rm(join(dataDir, name), { recursive: true, force: true });
    }
    await rmdir(join(dataDir, TOOLS)).catch(() => undefined);
  } finally {
    await lock.release();
  }
  // Succeeds only when nothing of anybody else's is in it.
  await rmdir(dataDir).catch(() => undefined);
  return answer;
};
