/** Reads the checkpoints that a search goes along from the store. */
import { MAX_PAGE_BYTES } from '../../shared/answer-size.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Checkpoint, CheckpointRef, Session } from '../model.ts';
import type { SessionStore, TreeNode } from '../ports/stores.ts';
import { baseOwnerOf } from '../session/keys.ts';
import { broughtBy, changingPoints, lineTo, type Point, pointAt, refName, type Stop } from './line.ts';

/** Forks of forks that are followed back. */
const MAX_SESSIONS = 50;
const PAGE = 100;

export interface LineOptions {
  repository?: string | undefined;
  allowPartial?: boolean | undefined;
}

export const createReadLine = (
  store: Pick<SessionStore, 'getSession' | 'listTree' | 'listCheckpoints'>,
  owner: Session,
  options: LineOptions,
) => {
  const timelines = new Map<string, ReadonlyMap<number, TreeNode>>();
  const points = new Map<string, Point>();

  /** Nothing where the session is gone, or a stranger has used its id again since. */
  const readTimeline = async (sessionId: string): Promise<void> => {
    const [session, nodes] = await Promise.all([store.getSession(sessionId), store.listTree(sessionId)]);
    const isOurs =
      session !== undefined && session.tenant === owner.tenant && baseOwnerOf(session) === baseOwnerOf(owner);
    timelines.set(sessionId, new Map(isOurs ? nodes.map((node) => [node.seq, node]) : []));
  };

  /** Oldest first, through the forks that it came from. */
  const stopsTo = async (end: CheckpointRef): Promise<Stop[]> => {
    for (;;) {
      const { stops, unread } = lineTo(timelines, end);
      if (unread === undefined || timelines.size >= MAX_SESSIONS) return stops;
      await readTimeline(unread);
    }
  };

  /** What is kept of a checkpoint is small, whatever its size. */
  const readPoints = async (stops: readonly Stop[]): Promise<void> => {
    for (const sessionId of new Set(stops.map((stop) => stop.sessionId))) {
      const wanted = new Map(
        stops
          .filter((stop) => stop.sessionId === sessionId && !points.has(refName(stop)))
          .map((stop) => [stop.seq, stop]),
      );
      const oldest = Math.min(...wanted.keys());
      let beforeSeq = Math.max(...wanted.keys()) + 1;
      while (wanted.size > 0 && beforeSeq > oldest) {
        const page: Checkpoint[] = await store.listCheckpoints(sessionId, {
          limit: PAGE,
          maxBytes: MAX_PAGE_BYTES,
          beforeSeq,
        });
        for (const checkpoint of page) {
          const stop = wanted.get(checkpoint.seq);
          if (stop !== undefined) points.set(refName(stop), pointAt(stop, checkpoint, options));
        }
        beforeSeq = page.at(-1)?.seq ?? oldest;
      }
    }
  };

  const pointsOf = async (stops: readonly Stop[]): Promise<Point[]> => {
    await readPoints(stops);
    // Retention may have removed one since the tree was read.
    return stops.flatMap((stop) => points.get(refName(stop)) ?? []);
  };

  return {
    stopsTo,
    pointsOf,
    /** What the merge at `point` brought, as a line; undefined where it is no merge, or its source is gone. */
    sourceOf: async (point: Point, before: CheckpointRef): Promise<Point[] | undefined> => {
      if (point.mergedFrom === undefined) return undefined;
      const brought = broughtBy(timelines, before, await stopsTo(point.mergedFrom));
      if (brought === undefined) return undefined;
      const points = await pointsOf(brought);
      return changingPoints(points).length > 1 ? points : undefined;
    },
  };
};

export type ReadLine = ReturnType<typeof createReadLine>;

export const pointNotOnLine = (good: string, sessionId: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `good: ${good} is not on the way to the bad point of session "${sessionId}": a rollback left it behind, it came later, or it is in another session. walkback log shows the way.`,
    { details: { fields: ['good'], sessionId } },
  );

/** The last one that a caller means with a message or checkpoint id; undefined: none of them. */
export const stopNamed = (points: readonly Point[], point: string): Point | undefined =>
  points.findLast(({ checkpointId, messageId }) => checkpointId === point || messageId === point);
