/**
 * The data directory of one embedded cloud. Owns `cloud.json`, which says who runs here and
 * where: at most one live process owns a directory, and only that one changes the file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { access, link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WalkbackError } from '../core/shared/errors.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { isExisting, isMissing, PRIVATE_DIRECTORY, PRIVATE_FILE, writePrivately } from './private-file.ts';

export interface CloudFile {
  pid: number;
  /** When the process started, as the kernel counts it. A pid alone may have been given to another process. */
  processStart: string;
  startedAt: string;
  /** Version of the program. */
  version: string;
  /** URLs by service. Present once the cloud answers. */
  endpoints: Record<string, string>;
  /** Variables to export to reach it. */
  environment: Record<string, string>;
  /** Names of the functions that are not Walkback's own. Absent: there are none. */
  functions?: string[];
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/**
 * Parsed by hand: every command reads this file, and the schema library takes longer to load than most
 * commands run. Throws for anything else than a cloud file.
 */
const parseCloudFile = (text: string): CloudFile => {
  const file: unknown = JSON.parse(text);
  if (typeof file !== 'object' || file === null) throw new TypeError('not an object');
  const {
    pid,
    processStart,
    startedAt,
    version,
    endpoints = {},
    environment = {},
    functions = [],
  }: Partial<Record<keyof CloudFile, unknown>> = file;
  if (!Number.isInteger(pid) || typeof pid !== 'number') throw new TypeError('no process id');
  if (typeof processStart !== 'string' || typeof startedAt !== 'string') throw new TypeError('no start');
  if (typeof version !== 'string') throw new TypeError('no version');
  if (!isTexts(endpoints) || !isTexts(environment) || !isNames(functions))
    throw new TypeError('no texts by name');
  return {
    pid,
    processStart,
    startedAt,
    version,
    endpoints,
    environment,
    ...(functions.length > 0 && { functions }),
  };
};

interface ProcessFacts {
  /** One letter, as `ps` shows it. */
  state: string;
  start: string;
}

/** Fields 3 and 22 of /proc/<pid>/stat. Empty where there is no /proc; then only the pid decides. */
const factsOf = (pid: number): ProcessFacts => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return { state: '', start: '' };
  }
};

export const startOf = (pid: number): string => factsOf(pid).start;

/**
 * Whether the process that wrote the file still exists. A killed process keeps its entry until its parent has
 * collected it, which never happens in a container without an init.
 */
export const isAlive = (file: Pick<CloudFile, 'pid' | 'processStart'>): boolean => {
  try {
    process.kill(file.pid, 0);
  } catch (error) {
    // EPERM: the process exists, and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const { state, start } = factsOf(file.pid);
  return start === file.processStart && state !== 'Z' && state !== 'X';
};

const cloudFilePath = (dataDir: string): string => join(dataDir, 'cloud.json');

/** A live process never leaves half a file (see `lockDataDir`), so a damaged file counts as none. */
const ownerIn = (text: string): CloudFile | undefined => {
  try {
    return parseCloudFile(text);
  } catch {
    return undefined;
  }
};

const readCloudFile = (path: string): Promise<CloudFile | undefined> =>
  readFile(path, 'utf8').then(ownerIn, () => undefined);

/** What the directory's file says, even if its process is gone. */
export const cloudFileOf = (dataDir: string): Promise<CloudFile | undefined> =>
  readCloudFile(cloudFilePath(dataDir));

/** The process that runs in this directory now, or undefined. */
export const findRunningCloud = async (dataDir: string): Promise<CloudFile | undefined> => {
  const file = await readCloudFile(cloudFilePath(dataDir));
  return file !== undefined && isAlive(file) ? file : undefined;
};

const refuse = (dataDir: string, owner: CloudFile): WalkbackError => {
  const state = Object.keys(owner.endpoints).length === 0 ? ', which is still starting' : '';
  return new WalkbackError(
    'ConfigurationError',
    `a cloud runs in ${dataDir} already: process ${owner.pid}${state}. walkback env prints what to export, walkback down ends it; or choose another --data`,
    { details: { pid: owner.pid, endpoints: owner.endpoints } },
  );
};

/** Makes a second name of a file. False when the name is taken. */
const linkNew = async (from: string, to: string): Promise<boolean> => {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
};

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** The name that only one process can make: the same for all that found this owner dead. */
const successorPath = (path: string, left: string): string =>
  `${path}.after-${createHash('sha256').update(left).digest('hex').slice(0, 16)}`;

interface Succession {
  /** The name that this process made. */
  own: string;
  /** The names of successors that died before they replaced the file. */
  dead: string[];
}

/**
 * Makes the name of the successor. Undefined when such a name was removed meanwhile: somebody has replaced the
 * file. Throws `ConfigurationError` when a successor is alive.
 */
const succeed = async (dataDir: string, claim: string, found: string): Promise<Succession | undefined> => {
  const dead: string[] = [];
  for (let left: string | undefined = found; left !== undefined; ) {
    const owner = ownerIn(left);
    if (owner !== undefined && isAlive(owner)) throw refuse(dataDir, owner);
    const name = successorPath(cloudFilePath(dataDir), left);
    if (await linkNew(claim, name)) return { own: name, dead };
    dead.push(name);
    left = await textOf(name);
  }
  return undefined;
};

/**
 * Takes the place of a dead owner. Only the process that makes the name of its successor may replace the file.
 * When that process dies before it has done so, its own successor is found in the same way. False: somebody
 * else has replaced the file, so look again. Throws `ConfigurationError` when the owner, or a successor, is alive.
 */
const follow = async (dataDir: string, claim: string): Promise<boolean> => {
  const path = cloudFilePath(dataDir);
  const found = await textOf(path);
  const succession = found === undefined ? undefined : await succeed(dataDir, claim, found);
  if (succession === undefined) return false;
  try {
    // A successor removes its name after it has replaced the file, so a late process can make the name again.
    if ((await textOf(path)) !== found) return false;
    await rename(claim, path);
    for (const name of succession.dead) await rm(name, { force: true });
    return true;
  } finally {
    await rm(succession.own, { force: true });
  }
};

/** Removes what processes that were killed on the way to this directory left beside the file. */
const removeLeftovers = async (dataDir: string): Promise<void> => {
  const path = cloudFilePath(dataDir);
  for (const name of await readdir(dataDir)) {
    const left = join(dataDir, name);
    if (!left.startsWith(`${path}.`)) continue;
    // One that names nobody may be half written by a process that is alive.
    const owner = await readCloudFile(left);
    if (owner !== undefined && !isAlive(owner)) await rm(left, { force: true });
  }
};

const inDataDir = async <T>(dataDir: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw new WalkbackError(
      'ConfigurationError',
      `${dataDir} cannot be used as data directory (${String(cause)}); choose another with --data`,
      { cause },
    );
  }
};

/** What git ignores of a data directory: all of it. */
export const IGNORED = { name: '.gitignore', text: '*\n' } as const;

/**
 * Makes the directory if needed. Git ignores what is in it: it may lie below a directory that is captured, a home without a
 * repository for example, and it changes all the time and holds keys.
 */
export const makeDataDirectory = async (dataDir: string): Promise<void> => {
  await makeDirectory(dataDir, PRIVATE_DIRECTORY);
  // One that somebody keeps other files in is theirs.
  if ((await readdir(dataDir)).length > 0) return;
  try {
    await writeFile(join(dataDir, IGNORED.name), IGNORED.text, { flag: 'wx', mode: PRIVATE_FILE });
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
};

const makeDataDir = (dataDir: string): Promise<void> =>
  inDataDir(dataDir, async () => {
    await makeDataDirectory(dataDir);
    await access(dataDir, constants.W_OK);
  });

export interface DataDirLock {
  /**
   * Whether the directory still belongs to this process: somebody may have deleted it, and another cloud may
   * have made it again.
   */
  isHeld(): Promise<boolean>;
  /** Tells others where the cloud answers. Does nothing to a directory that no longer belongs to this process. */
  publish(facts: Pick<CloudFile, 'endpoints' | 'environment' | 'functions'>): Promise<void>;
  release(): Promise<void>;
}

/**
 * Makes the directory if needed, and takes it. Throws `ConfigurationError` with the live owner, if there is
 * one.
 */
export const lockDataDir = async (dataDir: string, version: string): Promise<DataDirLock> => {
  await makeDataDir(dataDir);
  const path = cloudFilePath(dataDir);
  const mine = {
    pid: process.pid,
    processStart: startOf(process.pid),
    startedAt: new Date().toISOString(),
    version,
  };
  const claim = `${path}.${randomUUID()}`;
  try {
    await inDataDir(dataDir, () => writeFile(claim, `${JSON.stringify(mine)}\n`, { mode: PRIVATE_FILE }));
    while (!(await linkNew(claim, path)) && !(await follow(dataDir, claim)));
    // They do no harm, so they keep nothing from starting.
    await removeLeftovers(dataDir).catch(() => undefined);
  } finally {
    await rm(claim, { force: true });
  }
  const isHeld = async (): Promise<boolean> => {
    const file = await readCloudFile(path);
    return file?.pid === mine.pid && file.processStart === mine.processStart;
  };
  return {
    isHeld,
    publish: async (facts) => {
      if (await isHeld()) await writePrivately(path, { ...mine, ...facts });
    },
    release: async () => {
      if (await isHeld()) await rm(path, { force: true });
    },
  };
};
