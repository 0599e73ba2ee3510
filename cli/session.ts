import { isAbsolute, relative } from 'node:path';
import type { ListedSession } from '../core/checkpoint/list-sessions.ts';
import type { Run } from './app.ts';
import type { Invoke } from './contract.ts';
import { CliError } from './failure.ts';

const PAGE = 100;
const MOST_PAGES = 20;

/** Every session the store lists, newest first. */
export const listAllSessions = async (invoke: Invoke): Promise<ListedSession[]> => {
  const sessions: ListedSession[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await invoke('walkback-list-sessions', {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    sessions.push(...answer.sessions);
    cursor = answer.cursor;
    if (cursor === undefined) break;
  }
  return sessions.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
};

const contains = (root: string, directory: string): boolean => {
  const below = relative(root, directory);
  return below === '' || (!below.startsWith('..') && !isAbsolute(below));
};

/** The newest session that still runs and whose projects root holds `directory`. */
const sessionFor = (sessions: readonly ListedSession[], directory: string): ListedSession | undefined =>
  sessions
    .filter((session) => session.status === 'active' && contains(session.projectsRoot, directory))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0];

/**
 * The session a command means: `--session`, `WALKBACK_SESSION`, else (embedded cloud only, because there the
 * projects root is a directory of this machine) the newest one around the current directory.
 */
export const resolveSession = async (run: Run, asked: string | undefined): Promise<string> => {
  const named = asked ?? run.terminal.env['WALKBACK_SESSION'];
  if (named !== undefined && named !== '') return named;
  const hint = 'name it with --session or WALKBACK_SESSION; walkback session list shows them';
  if (run.sandboxes === undefined) {
    throw new CliError('InvalidInput', 'Which session?', { hint });
  }
  const found = sessionFor(await listAllSessions(run.invoke), run.terminal.cwd);
  if (found === undefined) {
    throw new CliError('SessionNotFound', `No running session has ${run.terminal.cwd} in its root.`, {
      hint,
    });
  }
  run.note(run.paint.dim(`session ${found.sessionId}`));
  return found.sessionId;
};
