/** The point of a timeline at which a file is looked at, and what is to be said of it. */
import type { BlameInput } from '../../../contract/blame.ts';
import { RESERVED_ID_PREFIX } from '../../../contract/ids.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { createDryCapture } from '../capture/capture.ts';
import type { Checkpoint, RepositoryState } from '../model.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { headSeqOf, type WorkTimeline } from '../session/place.ts';
import { findTarget, targetNamed } from '../timeline/targets.ts';
import type { HistoryNode } from './history.ts';
import { NOW } from './origins.ts';

const DRY_CAPTURE_ID = `${RESERVED_ID_PREFIX}blame`;

export interface Point {
  /** For now: the head. */
  checkpoint: Checkpoint;
  now?: RepositoryState[];
  /** `now`, or `at cp-...`. */
  words: string;
}

export const statesAt = ({ checkpoint, now }: Point): RepositoryState[] => now ?? checkpoint.repositories;

export const pointWarnings = (point: Point, nodes: readonly HistoryNode[], repository: string): string[] => [
  ...(statesAt(point).some(({ path, state }) => path === repository && state === 'failed')
    ? [`${repository} was not captured ${point.words}; its last good capture is shown instead`]
    : []),
  ...(nodes.some(({ isFirstCapture }) => isFirstCapture === true)
    ? [
        `${repository} could not be captured when the session began: what came with its first capture may have been there before`,
      ]
    : []),
];

export const createBlamePoint = (deps: { store: SessionStore; repositories: Repositories; clock: Clock }) => {
  const { store } = deps;
  const dryCapture = createDryCapture(deps);
  return async (
    { sessionId, at }: BlameInput,
    place: WorkTimeline,
    sandbox: ExecutionAdapter,
    invocation: Invocation,
  ): Promise<Point> => {
    const { session } = place;
    const asked = at ?? (session.status === 'ended' && place.copy === undefined ? 'head' : NOW);
    const isNow = asked === NOW;
    const name = isNow ? {} : targetNamed(asked);
    const checkpoint = await findTarget(store, sessionId, name, headSeqOf(place));
    if (!isNow) return { checkpoint, words: `at ${checkpoint.checkpointId}` };
    const { repositories: now } = await dryCapture(
      {
        session,
        sandbox,
        head: checkpoint,
        toolExecutionId: DRY_CAPTURE_ID,
        messageId: null,
        reason: 'blame',
      },
      invocation,
    );
    const known = new Map(checkpoint.repositories.map((state) => [state.path, state]));
    return {
      checkpoint,
      now: now.map((state) => (state.state === 'failed' ? { ...known.get(state.path), ...state } : state)),
      words: NOW,
    };
  };
};
