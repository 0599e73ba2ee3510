/**
 * Removes from a directory what the sessions of a cloud left there, because that cloud is deleted: open or
 * ended, none of them can be used afterwards.
 *
 * 1. What belongs to a session that this cloud does not know stays, and is named: another cloud may use it.
 * 2. What may hold files of the user's own stays, and is named.
 */
import { id as idOf } from '../../../contract/fields.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Leftover, Repositories } from '../ports/repositories.ts';
import type { CommandRunner } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { CLEAN_TIMEOUT_MS, type NamedLeftovers, named } from './clean-sandbox.ts';

/** A directory of this machine, and the paths under which sandboxes see it. */
export interface MountedDirectory {
  directory: string;
  paths: readonly string[];
}

export interface CleanedDirectory {
  removed: NamedLeftovers;
  /** What may hold files of the user's own, or could not be removed. */
  kept: NamedLeftovers;
  /** What sessions need that this cloud does not know. */
  others: NamedLeftovers;
}

export interface CleanDirectoryDeps {
  store: Pick<SessionStore, 'getSession'>;
  here: CommandRunner;
  leftovers: Repositories['leftovers'];
}

/** All ids go in one command. */
const MOST_SESSIONS = 400;

export const createCleanDirectory =
  ({ store, here, leftovers }: CleanDirectoryDeps) =>
  async (
    { directory, paths }: MountedDirectory,
    /** Those below it are cleaned before it, and count what they remove. */
    inside: readonly MountedDirectory[],
    { dryRun }: { dryRun: boolean },
  ): Promise<CleanedDirectory> => {
    const look = (ended: string[], remove: boolean) =>
      leftovers(here, {
        projectsRoot: directory,
        maxDepth: DEFAULTS.maxDepth,
        timeoutMs: CLEAN_TIMEOUT_MS,
        ended,
        remove,
      });
    const ids = [...new Set((await look([], false)).flatMap(({ sessionId }) => sessionId ?? []))]
      .filter((id) => idOf.safeParse(id).success)
      .slice(0, MOST_SESSIONS);
    const rootOf = new Map(
      await Promise.all(ids.map(async (id) => [id, (await store.getSession(id))?.projectsRoot] as const)),
    );
    const among = (places: readonly string[]) => ids.filter((id) => places.includes(rootOf.get(id) ?? ''));
    const ofInside = new Set(among(inside.flatMap((one) => one.paths)));
    const isCounted = ({ path, sessionId }: Leftover): boolean =>
      sessionId === null ||
      !ofInside.has(sessionId) ||
      !inside.some((one) => `${directory}/${path}`.startsWith(`${one.directory}/`));
    const found = (await look([...new Set([...among(paths), ...ofInside])], !dryRun)).filter(isCounted);
    return { removed: named(found, 'remove'), kept: named(found, 'keep'), others: named(found, 'needed') };
  };
