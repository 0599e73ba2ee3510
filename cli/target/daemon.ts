/**
 * The embedded cloud as a process of its own, which outlives the command that started it. There is one per
 * data directory: when two are started at once, one of them finds the directory taken and ends, and both
 * commands use the other.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { type CloudFile, findRunningCloud, isAlive, makeDataDirectory } from '../../local/data-dir.ts';
import { PRIVATE_FILE } from '../../local/private-file.ts';
import { CliError } from '../failure.ts';
import { idleMinutesIn, MINUTES_HELP } from '../options.ts';
import { requireLinux } from './platform.ts';

const POLL_MS = 50;
const PATIENCE_MS = 120_000;
const MAX_LOG_BYTES = 1024 ** 2;
/** When nobody has asked for anything for this long, it ends. */
const IDLE_MINUTES = 15;

export interface DaemonOptions {
  port?: number;
  /** Absent: those that it served before. */
  functions?: readonly string[];
  /** Where people are told. */
  notify?: string;
  /** 0: never. */
  idleMinutes?: number;
}

/** `WALKBACK_IDLE_MINUTES`, for a daemon that is started automatically. */
export const idleMinutesOf = (env: Readonly<Record<string, string | undefined>>): number => {
  const text = env['WALKBACK_IDLE_MINUTES'] ?? '';
  const minutes = text === '' ? IDLE_MINUTES : idleMinutesIn(text);
  if (minutes !== undefined) return minutes;
  throw new CliError('InvalidInput', `WALKBACK_IDLE_MINUTES is ${JSON.stringify(text)}. ${MINUTES_HELP}`);
};

const logFileOf = (dataDir: string): string => join(dataDir, 'daemon.log');

/** Where it answers; undefined while it starts, ends, or belongs to another command. */
const findDaemon = async (dataDir: string): Promise<CloudFile | undefined> => {
  const running = await findRunningCloud(dataDir);
  return running !== undefined && Object.keys(running.environment).length > 0 ? running : undefined;
};

const failureSchema = z.object({
  error: z.object({ name: z.string(), message: z.string(), hint: z.string().optional() }),
});

/** The error with which it could not start. It writes errors like any command with `--json`. */
const failureIn = (log: string, dataDir: string): CliError => {
  const last = log.trim().split('\n').at(-1) ?? '';
  if (last === '') {
    return new CliError('CloudUnavailable', 'The embedded cloud did not start, and could not say why.', {
      hint: `walkback doctor looks for the reason: is the disk of ${dataDir} full?`,
    });
  }
  try {
    const { name, message, hint } = failureSchema.parse(JSON.parse(last)).error;
    return new CliError(name, message, hint === undefined ? {} : { hint });
  } catch {
    return new CliError('CloudUnavailable', `The embedded cloud did not start: ${last}`);
  }
};

/**
 * Two young generations of 8 MB, where V8 would let them grow to 64 MB in all. Checkpoints take no longer with them
 * (docs/benchmarks.md).
 */
const NODE_FLAGS = ['--max-semi-space-size=8'];

const wordsOf = (dataDir: string, options: DaemonOptions): string[] => [
  'up',
  '--daemon',
  '--json',
  '--data',
  dataDir,
  '--idle',
  String(options.idleMinutes ?? IDLE_MINUTES),
  ...(options.port === undefined ? [] : ['--port', String(options.port)]),
  ...(options.functions === undefined
    ? ['--as-before']
    : options.functions.flatMap((path) => ['--functions', path])),
];

/** The log that it writes to, and the byte at which its part begins. */
const openLog = async (dataDir: string): Promise<{ log: number; from: number }> => {
  const file = logFileOf(dataDir);
  try {
    await makeDataDirectory(dataDir);
    const isLong = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES;
    const log = openSync(file, isLong ? 'w' : 'a', PRIVATE_FILE);
    try {
      // If this cannot be written, nothing can, and the process could not report its errors.
      writeSync(log, `${new Date().toISOString()} starts\n`);
      return { log, from: statSync(file).size };
    } catch (error) {
      closeSync(log);
      throw error;
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('ConfigurationError', `${dataDir} cannot be used as data directory: ${reason}.`, {
      cause,
      hint: 'choose another with --data or WALKBACK_DATA; walkback doctor says what is wrong with it',
    });
  }
};

interface Launched {
  child: ChildProcess;
  said: () => string;
  ended: () => boolean;
}

const launch = async (dataDir: string, options: DaemonOptions): Promise<Launched> => {
  const file = logFileOf(dataDir);
  const { log, from } = await openLog(dataDir);
  // A session of its own, so that it outlives the terminal. It also does not keep the person's current
  // directory in use.
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, process.argv[1] ?? '', ...wordsOf(dataDir, options)],
    {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
      // Not an argument: everybody on the machine can see those, and such an address may be a secret.
      env: {
        ...process.env,
        ...(options.notify === undefined ? {} : { WALKBACK_NOTIFY_URL: options.notify }),
      },
    },
  );
  closeSync(log);
  let isOver = false;
  child.on('error', () => (isOver = true));
  child.on('exit', () => (isOver = true));
  child.unref();
  return { child, said: () => readFileSync(file).subarray(from).toString(), ended: () => isOver };
};

/**
 * The daemon of the directory, started when there is none. Throws `DataDirInUse` when another command holds
 * the directory for too long.
 */
export const ensureDaemon = async (
  dataDir: string,
  { signal, ...options }: DaemonOptions & { signal: AbortSignal },
): Promise<{ daemon: CloudFile; isNew: boolean }> => {
  requireLinux();
  const deadline = Date.now() + PATIENCE_MS;
  let launched: Launched | undefined;
  for (;;) {
    const daemon = await findDaemon(dataDir);
    if (daemon !== undefined) return { daemon, isNew: daemon.pid === launched?.child.pid };
    const holder = await findRunningCloud(dataDir);
    if (launched?.ended() === true && holder === undefined) {
      const failure = failureIn(launched.said(), dataDir);
      // The process that held the directory has ended meanwhile.
      if (!failure.message.includes('a cloud runs in')) throw failure;
      launched = undefined;
    }
    if (launched === undefined && holder === undefined) launched = await launch(dataDir, options);
    if (Date.now() > deadline) {
      throw new CliError('DataDirInUse', `No embedded cloud answers in ${dataDir}.`, {
        hint: `another command may work there; see ${logFileOf(dataDir)}`,
      });
    }
    await delay(POLL_MS, undefined, { signal });
  }
};

/** Ends it and waits until it is gone. Answers its pid; undefined when none ran. */
export const stopDaemon = async (dataDir: string, signal: AbortSignal): Promise<number | undefined> => {
  const running = await findRunningCloud(dataDir);
  if (running === undefined) return undefined;
  if (Object.keys(running.environment).length === 0) {
    throw new CliError('DataDirInUse', `Process ${running.pid} starts, ends, or works in ${dataDir}.`, {
      hint: 'try again when it is done',
    });
  }
  process.kill(running.pid, 'SIGTERM');
  const deadline = Date.now() + PATIENCE_MS;
  while (isAlive(running)) {
    if (Date.now() > deadline) {
      throw new CliError('DataDirInUse', `Process ${running.pid} does not end.`, {
        hint: `kill -9 ${running.pid} loses nothing that was answered`,
      });
    }
    await delay(POLL_MS, undefined, { signal });
  }
  return running.pid;
};
