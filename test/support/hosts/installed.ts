/**
 * Hosts that are programs of hundreds of megabytes are not dependencies: `npm run hosts` installs them beside the packages, and
 * what needs one that is not there is skipped by name.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PLACE =
  process.env['WALKBACK_HOSTS'] ?? join(import.meta.dirname, '../../../node_modules/.cache/hosts');

/** The file of an installed host; undefined when it is not installed. */
export const installed = (path: string): string | undefined => {
  const file = join(PLACE, 'node_modules', path);
  return existsSync(file) ? file : undefined;
};
