import { isAbsolute, relative } from 'node:path';
import { newestOf } from '../client/host-session.ts';
import type { ListedSession } from '../contract/checkpoint-answers.ts';
import type { Invoke } from '../contract/invoke.ts';
import type { Run } from './app.ts';
import { CliError } from './failure.ts';

const PAGE = 200;

/**
 * Every session in the store, newest first. The store lists them in no order, so the newest may be on the
 * last page.
 */
export const listAllSessions = async (invoke: Invoke): Promise<ListedSession[]> => {
  const sessions: ListedSession[] = [];
  let cursor: string | undefined;
  do {
    const answer = await invoke('walkback-list-sessions', {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    sessions.push(...answer.sessions);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return sessions.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
};

const contains = (root: string, directory: string): boolean => {
  const below = relative(root, directory);
  return below !== '..' && !below.startsWith('../') && !isAbsolute(below);
};

/** The newest running session whose projects root contains `directory`, else the only running one. */
const sessionFor = (sessions: readonly ListedSession[], directory: string): ListedSession | undefined => {
  const running = sessions.filter(({ status }) => status === 'active');
  // A fork has the root of its source, but its files are elsewhere.
  const around = running
    .filter(({ projectsRoot, forkedFrom }) => forkedFrom === undefined && contains(projectsRoot, directory))
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  return around[0] ?? (running.length === 1 ? running[0] : undefined);
};

/** In a shell of Claude Code: the session of its conversation. */
const conversationOf = (
  sessions: readonly ListedSession[],
  env: Readonly<Record<string, string | undefined>>,
): ListedSession | undefined => {
  const id = env['CLAUDE_CODE_SESSION_ID'] ?? '';
  const newest = id === '' ? undefined : newestOf(sessions, `claude-${id}`);
  return sessions.find(({ sessionId }) => sessionId === newest);
};

/**
 * The session that a command means: `--session`, `WALKBACK_SESSION`, else that of the conversation in Claude
 * Code, else the newest one around the current directory, else the only one. The last three work only with the embedded cloud, where the projects root is a
 * directory of this machine.
 */
export const resolveSession = async (run: Run, asked: string | undefined): Promise<string> => {
  const named = asked ?? run.terminal.env['WALKBACK_SESSION'];
  if (named !== undefined && named !== '') return named;
  const hint = 'name it with --session or WALKBACK_SESSION; walkback session list shows them';
  if (run.sandboxes === undefined) {
    throw new CliError('InvalidInput', 'Which session?', { hint });
  }
  const { cwd } = run.terminal;
  const sessions = await listAllSessions(run.invoke);
  const conversation = conversationOf(sessions, run.terminal.env);
  const found = conversation ?? sessionFor(sessions, cwd);
  if (found === undefined) {
    const several = sessions.some(({ status }) => status === 'active');
    const message = several ? `Several sessions run, and none has ${cwd} in its root.` : `No session runs.`;
    throw new CliError('SessionNotFound', message, {
      hint: several ? hint : 'start one with walkback session start --root DIR',
    });
  }
  const { sessionId, projectsRoot } = found;
  const isThere = conversation !== undefined || contains(projectsRoot, cwd);
  const elsewhere = isThere ? '' : `, the only one that runs, of ${projectsRoot}`;
  run.note(run.paint.dim(`session ${sessionId}${elsewhere}`));
  return sessionId;
};
