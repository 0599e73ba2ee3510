/** Which active session works in a sandbox: in it itself, or in another one that is mounted on its files. */
import type { FoundSandbox } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';

const PAGE = 200;

/**
 * The embedded cloud tags a sandbox so whose files are the mounted directory of others, with their ids: what lies in
 * such a sandbox is lost with it, and the session that works there has the id of the other one.
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

/** The sessions that would lose what they work on, were this sandbox killed. */
export const usersOf = (
  { sandboxId, tags }: Pick<FoundSandbox, 'sandboxId' | 'tags'>,
  used: ReadonlyMap<string, readonly string[]>,
): string[] => [sandboxId, ...(tags[MOUNTED_BY]?.split(',') ?? [])].flatMap((id) => used.get(id) ?? []);
