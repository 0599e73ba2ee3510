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
  // Made with the first start of a cloud, and the last to go: a directory without it is somebody else's.
  CREDENTIALS_FILE,
];

/** Where `serveTools` of the client keeps what it needs, one directory for each tool. */
const TOOLS = 'tools';
const TOMBSTONES = 'tombstones';

/** Names below the data directory; a project may have a directory `tools` of its own there. */
const keptNames = async (dataDir: string): Promise<string[]> => {
  // Other programs have a file of that name, too.
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

/** Of a cloud that runs, files go while they are looked at. */
const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
};

const bytesOf = async (path: string): Promise<number> => {
  // A link is itself, not what it points at: a mount of a sandbox is a directory of the user's.
  const facts = await lstat(path);
  if (!facts.isDirectory()) return facts.size;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) =>
    entry.isFile() ? sizeOf(join(entry.parentPath, entry.name)) : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** What would be deleted; empty when no cloud ever was here, whatever else is in the directory. */
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

/** A sandbox with files of its own, made from a checkpoint: a review copy, a fork, or where a session went on. */
export interface KeptSandbox {
  sandboxId: string;
  sessionId: string;
}

/** Work in them that no checkpoint holds would be gone, which nobody sees in a sum of bytes. */
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

/** `ConfigurationError` when a cloud runs there. A deletion that was interrupted goes on with the next one. */
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
  // Only when nothing of anybody else's is in it.
  await rmdir(dataDir).catch(() => undefined);
};
