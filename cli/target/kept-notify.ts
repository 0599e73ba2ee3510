/**
 * Where people are told what a cloud of a data directory waits for. It is stored, with its authorization, so
 * that a command that finds no cloud and starts one tells them too.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { NotifyOptions } from '../../local/events/notify.ts';
import { readJson, writePrivately } from '../../local/private-file.ts';

const schema = z.object({ url: z.string(), authorization: z.string().optional() });

const fileOf = (dataDir: string): string => join(dataDir, 'notify.json');

/** Undefined: nobody is told. */
export const readNotify = async (dataDir: string): Promise<NotifyOptions | undefined> => {
  const kept = await readJson(fileOf(dataDir), schema);
  if (kept === undefined) return undefined;
  const { url, authorization } = kept;
  return { url, ...(authorization === undefined ? {} : { authorization }) };
};

/** Stores it, from now on. */
export const keepNotify = (dataDir: string, notify: NotifyOptions | undefined): Promise<void> =>
  notify === undefined ? rm(fileOf(dataDir), { force: true }) : writePrivately(fileOf(dataDir), notify);
