import type { Command } from 'commander';
import { plural } from '../../core/shared/plural.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';

/**
 * Forgets the mount of a session that worked in a directory of this machine. Never removes a sandbox that
 * holds files.
 */
const releaseMount = async (run: Run, sandboxId: string, projectsRoot: string): Promise<void> => {
  const { sandboxes } = run;
  if (sandboxes === undefined) return;
  const places = await sandboxes.places(sandboxId).catch(() => undefined);
  if (places?.mounts[projectsRoot] !== undefined) await sandboxes.kill(sandboxId);
};

export const addSessionEnd = (parent: Command, app: App): void => {
  parent
    .command('end')
    .summary('end a session')
    .description('End a session: no more checkpoints, and its data expires after the retention time.')
    .argument('<session>', 'session id', parseId)
    .option('--discard', 'only a fork: kill its sandbox too')
    .action((sessionId: string, options: { discard?: boolean }, command: Command) =>
      withConnection(app, command, async (run) => {
        const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
        const answer = await run.invoke('walkback-end-session', {
          sessionId,
          ...(options.discard === true ? { discard: true } : {}),
        });
        if (options.discard !== true) await releaseMount(run, session.sandboxId, session.projectsRoot);
        const expires = new Date(answer.expiresAt * 1000).toISOString();
        return {
          value: answer,
          text: () =>
            `Session ${sessionId} ended. The checkpoint it stands on is kept until ${expires}, older ones for ` +
            `${plural(session.retentionDays, 'day')} from when they were taken.\n`,
        };
      }),
    );
};
