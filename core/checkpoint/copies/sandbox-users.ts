/**
 * Finds which active sessions work in a sandbox: in the sandbox itself, or in another one that mounts its
 * files.
 */
import type { FoundSandbox } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';

const PAGE = 200;

/**
 * Tag that the embedded cloud gives a sandbox whose files are the mounted directory of other sandboxes. Its
 * value holds their ids. Files in such a sandbox are lost with it, but a session that works there has the id
 * of one of the others.
 */
export const MOUNTED_BY = 'walkback-mounted-by';

/** Active sessions by their sandbox. Eventually consistent. */
export const sessionsBySandbox = async (
  store: Pick<SessionStore, 'listSessions'>,
): Promise<Map<string, string[]>> => {
  const used = new Map<string, string[]>();
  let cursor: string | undefined;
  do {
    const page = await store.listSessions(PAGE, cursor);
    for (const { sandboxId, sessionId, status } of page.sessions) {
      if (status === 'active') used.set(sandboxId, [...(used.get(sandboxId) ?? []), sessionId]);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return used;
};

/** The sessions that would lose their work if this sandbox were killed. */
export const usersOf = (
  { sandboxId, tags }: Pick<FoundSandbox, 'sandboxId' | 'tags'>,
  used: ReadonlyMap<string, readonly string[]>,
): string[] => [sandboxId, ...(tags[MOUNTED_BY]?.split(',') ?? [])].flatMap((id) => used.get(id) ?? []);
