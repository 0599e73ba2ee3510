/** Tests that become another user, or look at what only root may see. */
import { chmodSync } from 'node:fs';
import { createHarness, type Harness } from './git-harness.ts';
import { TWO_FILES } from './git-repositories.ts';

/** Options of such a test: shown as skipped for anybody but root. */
export const NEEDS_ROOT = { skip: process.getuid?.() !== 0 };

/**
 * A sandbox of a user without rights, who owns the repository `app`. What the harness runs itself is run by root.
 * `make`, bash, is run in the repository before it is given away.
 */
export const asNobody = async (make = ':'): Promise<Harness> => {
  const harness = await createHarness({
    prefix: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
  });
  harness.sh(`mkdir app; cd app; ${TWO_FILES}; ${make}; chown -R 65534:65534 . ..; chmod 755 ../..`);
  chmodSync(harness.top, 0o755);
  return harness;
};
