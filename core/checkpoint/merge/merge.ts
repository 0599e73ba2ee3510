/**
 * Brings the work of one session into another that has a checkpoint in common with it: a fork into its
 * source, or the source into a fork (W2 to W4). All repositories or none; applied as a rollback.
 */

import type { MergeInput } from '../../../contract/checkpoint-inputs.ts';
import type { MergeAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Checkpoint, CheckpointRef, Composition, Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { requestHash } from '../rollback/request-hash.ts';
import { createMove } from '../rollback/rollback.ts';
import type { RollbackDeps } from '../rollback/rollback-attempt.ts';
import { baseOwnerOf } from '../session/keys.ts';
import { conflictingRequest, requireActive, requireSession } from '../session/session-rules.ts';
import { findTarget, requireComplete } from '../timeline/targets.ts';
import { isUnchangedFork, mergeBase, type Timelines } from './merge-base.ts';

type Merge = Extract<Composition, { kind: 'merge' }>;

/** Forks of forks of forks. */
const MAX_DEPTH = 10;

const unrelated = (from: string, into: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `from, into: sessions "${from}" and "${into}" have no checkpoint in common, or its retention is over. Fork with walkback-fork-session, and merge that.`,
    { details: { fields: ['from', 'into'] } },
  );

const refOf = ({ sessionId, seq }: Checkpoint): CheckpointRef => ({ sessionId, seq });
const pointOf = ({ sessionId, checkpointId }: Checkpoint) => ({ sessionId, checkpointId });

/** The timelines of both, and of what they were forked from. */
const readTimelines = async (store: SessionStore, sessionIds: readonly string[]): Promise<Timelines> => {
  const timelines = new Map<string, Awaited<ReturnType<SessionStore['listTree']>>>();
  let wanted = [...sessionIds];
  for (let depth = 0; depth < MAX_DEPTH && wanted.length > 0; depth++) {
    const read = await Promise.all(wanted.map(async (id) => [id, await store.listTree(id)] as const));
    for (const [id, nodes] of read) timelines.set(id, nodes);
    const named = read.flatMap(([, nodes]) => nodes.flatMap((node) => node.forkedFrom?.sessionId ?? []));
    wanted = [...new Set(named)].filter((id) => !timelines.has(id));
  }
  return timelines;
};

export const createMerge = (deps: RollbackDeps) => {
  const { store } = deps;
  const move = createMove(deps);

  const requireMarkable = (into: Session): void => {
    if (into.forkedFrom !== undefined) return;
    throw new WalkbackError(
      'InvalidInput',
      `markers: session "${into.sessionId}" is no fork. Conflicts are written into forks only: bring this session into the fork with markers, mend them there, then merge the fork.`,
      { details: { fields: ['markers'] } },
    );
  };

  /** What there is to merge, as things stand. */
  const look = async (
    input: MergeInput,
  ): Promise<{ composition: Merge; isNothing: boolean; into: Session }> => {
    const [from, into] = await Promise.all([
      requireSession(store, input.from),
      requireSession(store, input.into),
    ]);
    requireActive(into);
    if (input.markers === true) requireMarkable(into);
    // Work never goes from one owner to another, whatever the timelines say.
    if (baseOwnerOf(from) !== baseOwnerOf(into)) throw unrelated(input.from, input.into);
    const theirs = await findTarget(store, from.sessionId, {}, from.headSeq);
    await requireComplete(store, theirs);
    const timelines = await readTimelines(store, [from.sessionId, into.sessionId]);
    const base = mergeBase(timelines, { sessionId: into.sessionId, seq: into.headSeq }, refOf(theirs));
    if (base === undefined) throw unrelated(input.from, input.into);
    const isSame = base.sessionId === theirs.sessionId && base.seq === theirs.seq;
    return {
      composition: {
        kind: 'merge',
        from: refOf(theirs),
        base,
        markers: input.markers ?? false,
        ...(input.paths !== undefined && { paths: input.paths }),
      },
      isNothing: isSame || isUnchangedFork(timelines, refOf(theirs), base),
      into,
    };
  };

  const nothing = async (into: Session): Promise<Omit<MergeAnswer, 'from' | 'base'>> => {
    const head = await findTarget(store, into.sessionId, {}, into.headSeq);
    return {
      status: 'NOTHING',
      checkpointId: head.checkpointId,
      epoch: into.epoch,
      undoCheckpointId: null,
      repositories: [],
      discardedMessageIds: [],
      trimAfterMessageId: head.messageId,
      warnings: [],
    };
  };

  return async (input: MergeInput, invocation: Invocation): Promise<MergeAnswer> => {
    const { into, requestId, paths, dryRun } = input;
    const hash = requestHash({ kind: 'merge', from: input.from, paths, markers: input.markers ?? false });
    const begun = await store.getRollback(into, requestId);
    if (begun !== undefined && begun.requestHash !== hash) throw conflictingRequest(requestId);
    const seen = begun?.composition?.kind === 'merge' ? undefined : await look(input);
    let merge = begun?.composition?.kind === 'merge' ? begun.composition : seen?.composition;
    const answered =
      seen?.isNothing === true
        ? await nothing(seen.into)
        : await move(
            {
              sessionId: into,
              requestId,
              dryRun,
              hash,
              choose: async () => {
                const { composition } = await look(input);
                merge = composition;
                return { composition };
              },
            },
            invocation,
          );
    if (merge === undefined) throw unrelated(input.from, into);
    const [from, base] = await Promise.all(
      [merge.from, merge.base].map(async ({ sessionId, seq }) =>
        pointOf(await findTarget(store, sessionId, {}, seq)),
      ),
    );
    if (from === undefined || base === undefined) throw unrelated(input.from, into);
    return { ...answered, from, base };
  };
};
