/** Finds the session of an MCP connection, anew for each call, because the cloud ends when nobody uses it. */
import { isWalkbackError } from '../../client/errors.ts';
import type { Session } from '../../client/index.ts';
import { Walkback } from '../../client/index.ts';
import { realDirectory } from '../../client/local-sandbox.ts';
import type { App } from '../app.ts';
import { CliError } from '../failure.ts';
import { selectTarget, type TargetFlags } from '../target/select.ts';

export interface McpPlace {
  session?: string;
  root?: string;
}

/** The named session, else the newest one on the directory, else a new one there. */
export const createSessionOpener = (
  app: App,
  flags: TargetFlags,
  { session: named = app.terminal.env['WALKBACK_SESSION'] ?? '', root = app.terminal.cwd }: McpPlace,
): { open: () => Promise<Session>; close: () => Promise<void> } => {
  const target = selectTarget(flags, app.terminal.env, app.terminal.cwd);
  const walkback = new Walkback(target.kind === 'local' ? { dataDir: target.dataDir } : {});

  const find = async (): Promise<Session> => {
    if (named !== '') return walkback.sessions.get(named);
    if (target.kind === 'aws') throw new CliError('InvalidInput', 'On AWS name the session with --session.');
    const directory = await realDirectory(root);
    for (const { sessionId, status, projectsRoot, forkedFrom } of await walkback.sessions.list()) {
      if (status !== 'active' || projectsRoot !== directory || forkedFrom !== undefined) continue;
      try {
        return await walkback.sessions.start({ root: directory, sessionId });
      } catch (error) {
        // The session goes on elsewhere, or ended meanwhile.
        if (!isWalkbackError(error, 'SessionConflict')) throw error;
      }
    }
    return walkback.sessions.start({ root: directory });
  };

  let opening: Promise<Session> | undefined;
  return {
    open: async () => {
      if (target.kind === 'local') {
        const { ensureDaemon, idleMinutesOf } = await import('../target/daemon.ts');
        const idleMinutes = idleMinutesOf(app.terminal.env);
        await ensureDaemon(target.dataDir, { idleMinutes, signal: app.signal });
      }
      const opened = opening ?? find();
      opening = opened;
      opened.catch(() => (opening = undefined));
      return opened;
    },
    close: () => walkback.close(),
  };
};
