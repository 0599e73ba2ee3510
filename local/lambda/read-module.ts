/**
 * Reads a module of the user's in a thread that ends afterwards, so that anything the module starts when it
 * is loaded ends too.
 */
import { basename, extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { ModuleContent } from './module-content.ts';
import { type Fault, tellOwnFault } from './own-faults.ts';
import { startOwnThread } from './own-thread.ts';

/** As long as the largest module takes on a busy machine. */
const PATIENCE_MS = 60_000;
/** Memory of each function of the user's, and so of its module. */
export const OWN_MEMORY_MB = 1024;

export const nameOfModule = (file: string): string => basename(file, extname(file));

/** Throws `ConfigurationError`, which says what is wrong with the module. */
export const readModule = async (entry: string): Promise<ModuleContent> => {
  const { promise, resolve } = Promise.withResolvers<ModuleContent | Fault>();
  const thread = startOwnThread({
    memoryMb: OWN_MEMORY_MB,
    onTold: (told) => {
      if (told.tell === 'content') resolve(told.content);
      if (told.tell === 'unreadable') resolve(told.fault);
    },
    onGone: resolve,
  });
  thread.ask({ ask: 'read', entry });
  const late: Fault = { reason: `it was not loaded after ${PATIENCE_MS / 1000} s` };
  const read = await Promise.race([promise, delay(PATIENCE_MS, late, { ref: false })]);
  await thread.end({ reason: 'it was read' });
  if ('functions' in read) return read;
  tellOwnFault({ name: nameOfModule(entry), entry }, read);
  throw new WalkbackError('ConfigurationError', `${entry} cannot be loaded: ${read.reason}`);
};
