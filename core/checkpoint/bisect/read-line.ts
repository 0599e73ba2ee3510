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

/** The timelines that were read so far, and a way to read another one. */
export const createReadTimelines = (store: Pick<SessionStore, 'getSession' | 'listTree'>, owner: Session) => {
  const timelines = new Map<string, ReadonlyMap<number, TreeNode>>();
  return {
    timelines,
    hasRoom: () => timelines.size < MAX_SESSIONS,
    /** Nothing where the session is gone, or a stranger has used its id again since. */
    read: async (sessionId: string): Promise<void> => {
      const [session, nodes] = await Promise.all([store.getSession(sessionId), store.listTree(sessionId)]);
      const isOurs =
        session !== undefined &&
        session.tenant === owner.tenant &&
        baseOwnerOf(session) === baseOwnerOf(owner);
      timelines.set(sessionId, new Map(isOurs ? nodes.map((node) => [node.seq, node]) : []));
    },
  };
};

/** Hands on each of these checkpoints of one session, page by page, newest first. Retention may have removed some. */
export const eachCheckpoint = async (
  store: Pick<SessionStore, 'listCheckpoints'>,
  sessionId: string,
  seqs: Iterable<number>,
  take: (checkpoint: Checkpoint) => void,
): Promise<void> => {
  const wanted = new Set(seqs);
  const oldest = Math.min(...wanted);
  let beforeSeq = Math.max(...wanted) + 1;
  while (wanted.size > 0 && beforeSeq > oldest) {
    const page: Checkpoint[] = await store.listCheckpoints(sessionId, {
      limit: PAGE,
      maxBytes: MAX_PAGE_BYTES,
      beforeSeq,
    });
    for (const checkpoint of page) if (wanted.has(checkpoint.seq)) take(checkpoint);
    beforeSeq = page.at(-1)?.seq ?? oldest;
  }
};

export const createReadLine = (
  store: Pick<SessionStore, 'getSession' | 'listTree' | 'listCheckpoints'>,
  owner: Session,
  options: LineOptions,
) => {
  const { timelines, hasRoom, read } = createReadTimelines(store, owner);
  const points = new Map<string, Point>();

  /** Oldest first, through the forks that it came from. */
  const stopsTo = async (end: CheckpointRef): Promise<Stop[]> => {
    for (;;) {
      const { stops, unread } = lineTo(timelines, end);
      if (unread === undefined || !hasRoom()) return stops;
      await read(unread);
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
      await eachCheckpoint(store, sessionId, wanted.keys(), (checkpoint) => {
        const stop = wanted.get(checkpoint.seq);
        if (stop !== undefined) points.set(refName(stop), pointAt(stop, checkpoint, options));
      });
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
