/** Begins a search, or takes one over: resolves its points once, so that the same request keeps its meaning when the head moves on. */
import type { BisectSessionInput } from '../../../contract/bisect.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { CheckpointRef, Session } from '../model.ts';
import type { SearchJournal, SearchStore } from '../ports/searches.ts';
import type { SessionStore } from '../ports/stores.ts';
import { requestHash } from '../session/request-hash.ts';
import { expiryOf } from '../session/retention.ts';
import { conflictingRequest } from '../session/session-rules.ts';
import { findTarget, targetNamed } from '../timeline/targets.ts';
import { changingPoints, type Point } from './line.ts';
import { pointNotOnLine, type ReadLine, stopNamed } from './read-line.ts';
import { superseded } from './search-journal.ts';
import { equalPoints, nowhereFit, unfitPoint } from './wrong-points.ts';

const refOf = ({ sessionId, seq }: CheckpointRef): CheckpointRef => ({ sessionId, seq });

export const createBeginSearch = (deps: { store: SessionStore; searches: SearchStore; clock: Clock }) => {
  const { store, searches, clock } = deps;

  const goodOf = async (
    points: readonly Point[],
    { sessionId, good, repository }: BisectSessionInput,
    headSeq: number,
  ): Promise<Point> => {
    if (good === undefined) {
      const first = points.find(({ unfit }) => unfit === undefined);
      if (first === undefined) throw nowhereFit(repository);
      return first;
    }
    const named =
      good === 'head'
        ? points.find((point) => point.sessionId === sessionId && point.seq === headSeq)
        : stopNamed(points, good);
    if (named !== undefined) return named;
    // What is nowhere is told as what it is.
    await findTarget(store, sessionId, targetNamed(good), headSeq);
    throw pointNotOnLine(good, sessionId);
  };

  return async (
    session: Session,
    input: BisectSessionInput,
    requestId: string,
    reading: ReadLine,
  ): Promise<SearchJournal> => {
    const { sessionId } = session;
    const { requestId: _, ...asked } = input;
    const hash = requestHash(asked);
    const known = await searches.getSearch(sessionId, requestId);
    if (known !== undefined && known.requestHash !== hash) throw conflictingRequest(requestId);
    const now = clock.now().toISOString();
    if (known !== undefined) {
      const taken = { ...known, attempt: known.attempt + 1, updatedAt: now };
      if (!(await searches.moveSearch(taken, known.attempt))) throw superseded(requestId);
      return taken;
    }
    const target = await findTarget(store, sessionId, targetNamed(input.bad), session.headSeq);
    const points = await reading.pointsOf(await reading.stopsTo(target));
    const good = await goodOf(points, input, session.headSeq);
    const bad = points.at(-1);
    if (bad?.seq !== target.seq || good.unfit !== undefined) throw unfitPoint('good', good);
    if (bad.unfit !== undefined) throw unfitPoint('bad', bad);
    const between = changingPoints(points.slice(points.indexOf(good)));
    if (between.length < 2) throw equalPoints(good.checkpointId, bad.checkpointId);
    const journal: SearchJournal = {
      sessionId,
      requestId,
      requestHash: hash,
      good: refOf(good),
      bad: refOf(bad),
      attempt: 1,
      probes: [],
      left: between.length - 1,
      startedAt: now,
      updatedAt: now,
      expiresAt: expiryOf(session, clock),
    };
    if (!(await searches.createSearch(journal))) throw superseded(requestId);
    return journal;
  };
};
