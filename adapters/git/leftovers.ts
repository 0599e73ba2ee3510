/** Lists what Walkback keeps below a projects root, and removes what no session needs. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { SandboxProgram } from './program/call.ts';

/** After which a call is over. */
const OLD_SECONDS = 15 * 60;
const LOCK_WAIT_SECONDS = 60;

export const createLeftovers =
  (program: SandboxProgram): Repositories['leftovers'] =>
  async (sandbox, { projectsRoot, maxDepth, ended, remove, timeoutMs }) => {
    const report = await program.call(
      sandbox,
      {
        kind: 'leftovers',
        maxDepth,
        ended: [...ended],
        remove,
        oldSeconds: OLD_SECONDS,
        lockWaitSeconds: LOCK_WAIT_SECONDS,
      },
      SANDBOX_REPORTS.leftovers,
      { projectsRoot, timeoutMs },
    );
    return report.leftovers.map(({ sessionId, ...one }) => ({ ...one, sessionId: sessionId ?? null }));
  };
