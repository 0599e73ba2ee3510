/** Tests that become another user, look at what only root may see, or mount. */
import { chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createHarness, type Harness } from './git-harness.ts';
import { TWO_FILES } from './git-repositories.ts';
import { endOf } from './run-sync.ts';

/** Options of a test. `skip: false` would also play one whose file has not its turn. */
const skippedIf = (isSkipped: boolean): { skip?: true } => (isSkipped ? { skip: true } : {});

/** Options of such a test: shown as skipped for anybody but root. */
export const NEEDS_ROOT = skippedIf(process.getuid?.() !== 0);

/** Why nothing can be mounted here, or undefined. In many containers root may not. */
export const noMount = (): string | undefined => {
  if (NEEDS_ROOT.skip === true) return 'only root may mount';
  const { status, stderr } = endOf('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
  });
  return status === 0 ? undefined : `nothing can be mounted here: ${stderr.trim()}`;
};

/** Options of a test that mounts: shown as skipped where that is not allowed. */
export const NEEDS_MOUNT = skippedIf(noMount() !== undefined);

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
