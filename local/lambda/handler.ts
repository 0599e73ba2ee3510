import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import { PROJECT } from '../template.ts';

export type Handler = (event: unknown, context: Context) => unknown;

const moduleSchema = z.looseObject({ handler: z.unknown() });

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

/**
 * Imports `handler` of a function's entry. A handler reads its environment when its module is first run, so
 * every `coldStart` is another instance of the entry: the query makes it another module.
 */
export const loadHandler = async (entry: string, coldStart: string): Promise<Handler> => {
  const url = pathToFileURL(join(PROJECT, entry));
  url.searchParams.set('coldStart', coldStart);
  const { handler } = moduleSchema.parse(await import(/* @vite-ignore */ url.href));
  if (!isHandler(handler)) {
    throw new WalkbackError('ConfigurationError', `${entry} exports no function named handler`);
  }
  return handler;
};
