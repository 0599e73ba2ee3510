/**
 * Which functions of the user's the cloud of a data directory serves. They are stored, so that a command that
 * finds no cloud and starts one serves them too: sagas that were under way call them, and would otherwise
 * fail.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { isWalkbackError, type WalkbackError } from '../../core/shared/errors.ts';
import type { Cloud, CloudOptions } from '../../local/cloud.ts';
import { readJson, writePrivately } from '../../local/private-file.ts';
import { CliError } from '../failure.ts';
import { shellWord } from '../options.ts';
import { keepNotify, readNotify } from './kept-notify.ts';
import { requireLinux } from './platform.ts';

/** Paths of directories and modules, as `--functions` takes them. */
const schema = z.object({
  served: z.array(z.string()),
  /** Those that the last `walkback up` could not serve. */
  refused: z.array(z.string()),
});
type OwnSources = z.infer<typeof schema>;

const NONE: OwnSources = { served: [], refused: [] };

const fileOf = (dataDir: string): string => join(dataDir, 'functions.json');

const readSources = async (dataDir: string): Promise<OwnSources> =>
  (await readJson(fileOf(dataDir), schema)) ?? NONE;

const flags = (paths: readonly string[]): string =>
  paths.map((path) => `--functions ${shellWord(path)}`).join(' ');

/** Whether the error is about functions of the user's, and not about another problem with the start. */
const isRefusal = (error: unknown): error is WalkbackError =>
  isWalkbackError(error, 'ConfigurationError') && 'functions' in error.details;

type Start = Omit<CloudOptions, 'functions'>;

/** Serves the functions that are named here, from now on. */
const startNamed = async (options: Start, functions: readonly string[]): Promise<Cloud> => {
  const { startCloud } = await import('../../local/cloud.ts');
  const { dataDir } = options;
  const known = await readSources(dataDir);
  try {
    const cloud = await startCloud({ ...options, functions });
    // Most clouds serve none, and need no file that says so.
    if (known !== NONE || functions.length > 0)
      await writePrivately(fileOf(dataDir), { served: functions, refused: [] });
    return cloud;
  } catch (error) {
    if (isRefusal(error)) await writePrivately(fileOf(dataDir), { ...known, refused: functions });
    throw error;
  }
};

const startAsBefore = async (options: Start): Promise<Cloud> => {
  const { startCloud } = await import('../../local/cloud.ts');
  const { served } = await readSources(options.dataDir);
  try {
    return await startCloud({ ...options, functions: served });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // Without them, sagas that were under way would call functions that do not exist.
    const message = `The embedded cloud does not start without its functions: ${error.message}. Fix that, or say with walkback up --detach what it serves from now on.`;
    const hint = `walkback up --detach ${flags(served)} with other paths, or without any`;
    throw new CliError(error.name, message, { cause: error, hint });
  }
};

/**
 * Starts the cloud in this process. Without `functions`, it serves those that it served before. It also tells
 * the same people as before, unless `notify` names others.
 */
export const startCloudHere = async (options: Start, functions?: readonly string[]): Promise<Cloud> => {
  requireLinux();
  const { dataDir } = options;
  if (functions === undefined) {
    const notify = options.notify ?? (await readNotify(dataDir));
    const cloud = await startAsBefore({ ...options, ...(notify === undefined ? {} : { notify }) });
    if (options.notify !== undefined) await keepNotify(dataDir, notify);
    return cloud;
  }
  const cloud = await startNamed(options, functions);
  await keepNotify(dataDir, options.notify);
  return cloud;
};

/**
 * What to say about a cloud that a command started by itself. Undefined when nobody ever asked for functions
 * or notices.
 */
export const howItServes = async (dataDir: string): Promise<string | undefined> => {
  const { served, refused } = await readSources(dataDir);
  const notify = await readNotify(dataDir);
  const again = served.length === 0 ? [] : [`It serves your functions again: ${served.join(', ')}.`];
  const not =
    refused.length === 0
      ? []
      : [
          `It does not serve ${refused.join(', ')}: walkback up was refused with that. Once that is fixed: walkback down, then walkback up --detach ${flags(refused)}`,
        ];
  // The rest of an address may be a secret.
  const tells = notify === undefined ? [] : [`It sends notices to ${new URL(notify.url).origin} again.`];
  const told = [...again, ...tells, ...not];
  return told.length === 0 ? undefined : ['The embedded cloud was started.', ...told].join(' ');
};
