/** Deletes what an embedded cloud keeps, and nothing else that lies in its directory. */
import { existsSync } from 'node:fs';
import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CREDENTIALS_FILE, hasCredentials } from './credentials.ts';
import { lockDataDir } from './data-dir.ts';
import { readRecord } from './e2b/sandbox-record.ts';
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
  return [...ours.map(({ name }) => join(TOOLS, name)), ...KEPT];
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

/** Deleting these loses work that no checkpoint holds, which a sum of bytes does not show. So they are listed. */
export const listKeptSandboxes = async (dataDir: string): Promise<KeptSandbox[]> => {
  const directory = join(dataDir, 'e2b');
  const names = await readdir(directory).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const found = names
    .toSorted((a, b) => a.localeCompare(b))
    .map(async (name): Promise<KeptSandbox[]> => {
      const record = await readRecord(join(directory, name));
      const sessionId = record?.metadata['walkback-session'];
      return record === undefined || sessionId === undefined
        ? []
        : [{ sandboxId: record.sandboxId, sessionId }];
    });
  return (await Promise.all(found)).flat();
};

/** Throws `ConfigurationError` when a cloud runs there. An interrupted deletion is completed by the next one. */
export const deleteKept = async (dataDir: string): Promise<void> => {
  const lock = await lockDataDir(dataDir);
  try {
    for (const name of await keptNames(dataDir)) {
      await rm(join(dataDir, name), { recursive: true, force: true });
    }
    await rmdir(join(dataDir, TOOLS)).catch(() => undefined);
  } finally {
    await lock.release();
  }
  // Succeeds only when nothing of anybody else's is in it.
  await rmdir(dataDir).catch(() => undefined);
};
