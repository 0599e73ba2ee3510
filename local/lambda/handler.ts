import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import { PROJECT } from '../program.ts';

export type Handler = (event: unknown, context: Context) => unknown;

const exportsSchema = z.looseObject({});

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

const COUNTER = Symbol.for('walkback.instances');

/**
 * Names an instance that this process has not had. Node's cache of compiled code has an entry for each URL that was
 * ever loaded, so the names are the same in each process. They are counted where the loaded modules are: in the process.
 */
export const newInstance = (): string => {
  const before: unknown = Reflect.get(globalThis, COUNTER);
  const count = typeof before === 'number' ? before + 1 : 1;
  Reflect.set(globalThis, COUNTER, count);
  return String(count);
};

/**
 * What a module exports. Each `instance` is a separate module that runs again. Without one, it is the
 * instance of this thread.
 */
export const loadModule = async (entry: string, instance?: string): Promise<Record<string, unknown>> => {
  const url = pathToFileURL(resolve(PROJECT, entry));
  if (instance !== undefined) url.searchParams.set('coldStart', instance);
  return exportsSchema.parse({ ...(await import(/* @vite-ignore */ url.href)) });
};

/** Throws `ConfigurationError` when the module has no handler of that name. */
export const handlerIn = (
  exports: Readonly<Record<string, unknown>>,
  entry: string,
  exported = 'handler',
): Handler => {
  const handler = exports[exported];
  if (isHandler(handler)) return handler;
  throw new WalkbackError('ConfigurationError', `${entry} exports no function named ${exported}`);
};

/**
 * Imports a function's handler. A handler reads its environment when its module first runs, so every
 * `coldStart` is another instance of the entry.
 */
export const loadHandler = async (entry: string, coldStart: string): Promise<Handler> =>
  handlerIn(await loadModule(entry, coldStart), entry);
