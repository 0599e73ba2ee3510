/** Reads what a module of the user's says about its functions. Pure. */
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';

export interface ModuleContent {
  /** Names of the functions it exports. */
  functions: string[];
  timeoutMs: number;
}

/**
 * For a tool that declares no time limit. It is shorter than the longest time that a saga waits for a tool of
 * 30 seconds.
 */
const DEFAULT_TIMEOUT_SECONDS = 30;

const timeoutSchema = z.int().min(1).max(900).default(DEFAULT_TIMEOUT_SECONDS);

/** Throws `ConfigurationError` when its time limit is not valid. */
export const contentOf = (exports: Readonly<Record<string, unknown>>): ModuleContent => {
  const timeout = timeoutSchema.safeParse(exports['timeoutSeconds']);
  if (!timeout.success)
    throw new WalkbackError('ConfigurationError', 'timeoutSeconds must be a whole number from 1 to 900');
  return {
    functions: Object.keys(exports).filter((name) => typeof exports[name] === 'function'),
    timeoutMs: timeout.data * 1000,
  };
};
