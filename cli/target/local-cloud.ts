import { setTimeout as delay } from 'node:timers/promises';
import { mayStartDaemon } from '../../client/target.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { CliError } from '../failure.ts';
import type { Progress } from '../terminal/progress.ts';
import { endWhenStuck } from './stuck.ts';

/** An embedded cloud to talk to: `walkback up`, or one that lives as long as this command. */
export interface LocalCloud {
  environment: Readonly<Record<string, string>>;
  /** Others use it too. When it ends, another one may take its place. */
  isShared: boolean;
  close(): Promise<void>;
}

const POLL_MS = 100;
const PATIENCE_MS = 120_000;

type Holder = LocalCloud | 'free' | { heldBy: number };

/**
 * Finds the cloud that holds the directory. If it does not answer, it is still starting, or belongs to
 * another command.
 */
const look = async (dataDir: string): Promise<Holder> => {
  const running = await findRunningCloud(dataDir);
  if (running === undefined) return 'free';
  if (Object.keys(running.environment).length === 0) return { heldBy: running.pid };
  return { environment: running.environment, isShared: true, close: async () => undefined };
};

const isHeld = (error: unknown): boolean =>
  error instanceof Error &&
  'details' in error &&
  typeof error.details === 'object' &&
  error.details !== null &&
  'pid' in error.details;

const tryStart = async (dataDir: string): Promise<LocalCloud | undefined> => {
  // Loaded only when needed: otherwise a command beside `walkback up` would load it too.
  const { startCloudHere } = await import('./own-sources.ts');
  try {
    // Not announced: others must not rely on a cloud that ends with this command.
    const cloud = await startCloudHere({ dataDir, announce: false });
    const close = async (): Promise<void> => {
      await cloud.close();
      endWhenStuck(cloud);
    };
    return { environment: cloud.environment, isShared: false, close };
  } catch (error) {
    if (isHeld(error)) return undefined;
    throw error;
  }
};

/** Waits while another command holds the directory. Throws `DataDirInUse` when that takes too long. */
const waitForTurn = async (dataDir: string, signal: AbortSignal): Promise<LocalCloud> => {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look(dataDir);
    if (found !== 'free' && !('heldBy' in found)) return found;
    const started = found === 'free' ? await tryStart(dataDir) : undefined;
    if (started !== undefined) return started;
    if (Date.now() > deadline) {
      const holder = found === 'free' ? '' : ` (process ${found.heldBy})`;
      throw new CliError('DataDirInUse', `Another walkback command${holder} still works in ${dataDir}.`, {
        hint: 'try again when it is done; walkback up lets any number of commands work at once',
      });
    }
    await delay(POLL_MS, undefined, { signal });
  }
};

type Say = (text: string) => void;

/** For a cloud that a command starts by itself, nobody named functions, so the person is told what it serves. */
const sayHowItServes = async (dataDir: string, say: Say): Promise<void> => {
  const { howItServes } = await import('./own-sources.ts');
  const text = await howItServes(dataDir);
  if (text !== undefined) say(text);
};

/** The cloud of one command. It ends with the command, and others wait for it. */
const openForThisCommand = async (
  dataDir: string,
  { progress, signal, say }: { progress: Progress; signal: AbortSignal; say: Say },
): Promise<LocalCloud> => {
  const started = await progress('Starting the embedded cloud', () => tryStart(dataDir));
  if (started !== undefined) await sayHowItServes(dataDir, say);
  return started ?? progress(`Waiting for another command in ${dataDir}`, () => waitForTurn(dataDir, signal));
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The running cloud of a data directory, else one in the background, else (`isOwn`, `WALKBACK_DAEMON=off`)
 * one for this command.
 */
export const openLocalCloud = async (
  dataDir: string,
  options: {
    progress: Progress;
    signal: AbortSignal;
    env: Environment;
    isOwn: boolean;
    say: Say;
  },
): Promise<LocalCloud> => {
  const { progress, signal, env, isOwn, say } = options;
  const isAlone = !mayStartDaemon(env) || isOwn;
  const found = await look(dataDir);
  if (found !== 'free' && !('heldBy' in found)) return found;
  if (isAlone) {
    if (found === 'free') return openForThisCommand(dataDir, options);
    return progress(`Waiting for another command in ${dataDir}`, () => waitForTurn(dataDir, signal));
  }
  const { ensureDaemon, idleMinutesOf } = await import('./daemon.ts');
  const idleMinutes = idleMinutesOf(env);
  const { daemon, isNew } = await progress('Starting the embedded cloud', () =>
    ensureDaemon(dataDir, { idleMinutes, signal }),
  );
  if (isNew) await sayHowItServes(dataDir, say);
  return { environment: daemon.environment, isShared: true, close: async () => undefined };
};
