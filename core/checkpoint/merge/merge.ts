/**
 * Brings the work of one session into another that has a checkpoint in common with it: a fork into its
 * source, or the source into a fork (W2 to W4). All repositories or none; applied as a rollback.
 */

import type { MergeInput } from '../../../contract/checkpoint-inputs.ts';
import type { MergeAnswer } from '../../../contract/rollback-answers.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { isIdle } from '../compose/decide.ts';
import { rolledBack } from '../compose/expect-unchanged.ts';
import { createCompositionSteps } from '../compose/steps.ts';
import type { Checkpoint, CheckpointRef, Composition, NamedRef, Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { createRestoreEngine } from '../rollback/rollback.ts';
import { baseOwnerOf } from '../session/keys.ts';
import { requestHash } from '../session/request-hash.ts';
import { conflictingRequest, requireActive, requireSession } from '../session/session-rules.ts';
import { findTarget, requireComplete } from '../timeline/targets.ts';
import { crissCross } from './criss-cross.ts';
import {
  isUnchangedFork,
  leftBehind,
  mergeBases,
  type Timelines,
  takenBack,
  unreadTimelines,
} from './merge-base.ts';
import { createUncapturedSource } from './uncaptured-source.ts';

type Merge = Extract<Composition, { kind: 'merge' }>;

/**
 * Rounds of reading timelines that name further ones: forks of forks, and merges of work that others had
 * merged.
 */
const MAX_ROUNDS = 50;
/** Merges that were taken back, as many as a plan names. */
const MAX_NAMED = 5;
/** Timelines that are read at the same time. */
const PARALLEL = 16;

const unrelated = (from: string, into: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `from, into: sessions "${from}" and "${into}" have no checkpoint in common, or its retention is over. Fork with walkback-fork-session (walkback fork), and merge that.`,
    { details: { fields: ['from', 'into'] } },
  );

const foreign = (from: string, into: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `from, into: sessions "${from}" and "${into}" are of different tenants. Work never goes from one tenant to another.`,
    { details: { fields: ['from', 'into'] } },
  );

const entangled = (from: string, into: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `from, into: what sessions "${from}" and "${into}" have came through more than ${MAX_ROUNDS} sessions one after the other. Fork one of them anew, and merge that.`,
    { details: { fields: ['from', 'into'] } },
  );

const sourceMoved = (from: string, seen: string, now: string): WalkbackError =>
  new WalkbackError(
    'SourceMoved',
    `Session "${from}" stands at checkpoint ${now}, and no longer at ${seen}, whose work was looked at. Nothing was changed. Make the plan again, and look at what came since.`,
    { details: { from, fromCheckpointId: seen, checkpointId: now } },
  );

const tookBack = (merge: NamedRef, revert: NamedRef): string => {
  const id = revert.checkpointId ?? `number ${revert.seq}`;
  return `what the merge ${merge.checkpointId ?? `number ${merge.seq}`} brought was taken back by the revert ${id}, and this merge brings none of it; to get it back, take back that revert: walkback revert ${id} --session ${revert.sessionId}`;
};

const refOf = ({ sessionId, seq }: Checkpoint): CheckpointRef => ({ sessionId, seq });

const named = (timelines: Timelines, ref: CheckpointRef): NamedRef => {
  const node = timelines.get(ref.sessionId)?.find(({ seq }) => seq === ref.seq);
  return { ...ref, ...(node !== undefined && { checkpointId: node.checkpointId }) };
};

const isSameOwner = (a: Session, b: Session): boolean =>
  a.tenant === b.tenant && baseOwnerOf(a) === baseOwnerOf(b);

/** The timelines of both sessions, and of the sessions of the same owner that their work came from. */
const readTimelines = async (
  store: SessionStore,
  owner: Session,
  into: CheckpointRef,
  from: CheckpointRef,
): Promise<Timelines> => {
  /** A stranger may have used the id again since. */
  const read = async (sessionId: string) => {
    const [session, nodes] = await Promise.all([store.getSession(sessionId), store.listTree(sessionId)]);
    return [sessionId, session === undefined || isSameOwner(session, owner) ? nodes : []] as const;
  };
  const timelines = new Map<string, Awaited<ReturnType<SessionStore['listTree']>>>();
  let wanted = [into.sessionId, from.sessionId];
  for (let round = 0; wanted.length > 0; round++) {
    if (round === MAX_ROUNDS) throw entangled(from.sessionId, into.sessionId);
    for (const [id, nodes] of await mapAtOnce(wanted, PARALLEL, read)) timelines.set(id, nodes);
    wanted = unreadTimelines(timelines, into, from);
  }
  return timelines;
};

export const createMerge = (deps: RollbackDeps) => {
  const { store } = deps;
  const stepsOf = createCompositionSteps(deps);
  const move = createRestoreEngine(deps);
  const uncapturedSource = createUncapturedSource(deps);

  /** The merged checkpoint may be gone since, because its retention is over. The answer stays the same. */
  const pointOf = async ({ sessionId, seq, checkpointId }: NamedRef) => ({
    sessionId,
    checkpointId: checkpointId ?? (await findTarget(store, sessionId, {}, seq)).checkpointId,
  });

  const requireMarkable = (into: Session): void => {
    if (into.forkedFrom !== undefined) return;
    throw new WalkbackError(
      'InvalidInput',
      `markers: session "${into.sessionId}" is no fork. Conflicts are written into forks only: bring this session into the fork with markers, resolve them there, then merge the fork.`,
      { details: { fields: ['markers'] } },
    );
  };

  /** Whether `from` holds the same as it began with, whatever was captured or merged in between. */
  const bringsNothing = async (into: Session, composition: Merge): Promise<boolean> => {
    const { paths: _, ...whole } = composition;
    return (await stepsOf(into, whole, [])).steps.every(isIdle);
  };

  /** Finds what there is to merge now, and what a plan has to say about it. */
  const look = async (
    input: MergeInput,
  ): Promise<{ composition: Merge; isNothing: boolean; into: Session; warnings: string[] }> => {
    const [from, into] = await Promise.all([
      requireSession(store, input.from),
      requireSession(store, input.into),
    ]);
    requireActive(into);
    if (input.markers === true) requireMarkable(into);
    // Work never goes from one owner to another, whatever the timelines say.
    if (from.tenant !== into.tenant) throw foreign(input.from, input.into);
    if (!isSameOwner(from, into)) throw unrelated(input.from, input.into);
    const theirs = await findTarget(store, from.sessionId, {}, from.headSeq);
    const { fromCheckpointId: looked = theirs.checkpointId } = input;
    if (looked !== theirs.checkpointId) throw sourceMoved(input.from, looked, theirs.checkpointId);
    await requireComplete(store, theirs);
    const head = { sessionId: into.sessionId, seq: into.headSeq };
    const timelines = await readTimelines(store, into, head, refOf(theirs));
    const [base, ...others] = mergeBases(timelines, head, refOf(theirs));
    if (base === undefined) throw unrelated(input.from, input.into);
    if (others.length > 0) throw crissCross(timelines, head, refOf(theirs));
    const isExpected = input.expectUnchanged === true;
    const gone = isExpected ? leftBehind(timelines, head, refOf(theirs)) : undefined;
    if (gone !== undefined) throw rolledBack(into.sessionId, named(timelines, gone).checkpointId ?? null);
    const isSame = base.sessionId === theirs.sessionId && base.seq === theirs.seq;
    const composition: Merge = {
      kind: 'merge',
      from: { ...refOf(theirs), checkpointId: theirs.checkpointId },
      base: named(timelines, base),
      markers: input.markers ?? false,
      ...(input.allowMarkers === true && { allowMarkers: true }),
      ...(isExpected && { expectUnchanged: true }),
      ...(input.paths !== undefined && { paths: input.paths }),
    };
    const isThere = isSame || isUnchangedFork(timelines, refOf(theirs), base);
    return {
      composition,
      // A caller that expects an unchanged target is refused when the target moved, even when there is
      // nothing to merge.
      isNothing: isThere || (!isExpected && (await bringsNothing(into, composition))),
      into,
      warnings: takenBack(timelines, head, refOf(theirs))
        .slice(0, MAX_NAMED)
        .map(({ merge, revert }) => tookBack(named(timelines, merge), named(timelines, revert))),
    };
  };

  const nothing = async (into: Session, warnings: string[]): Promise<Omit<MergeAnswer, 'from' | 'base'>> => {
    const head = await findTarget(store, into.sessionId, {}, into.headSeq);
    return {
      status: 'NOTHING',
      checkpointId: head.checkpointId,
      epoch: into.epoch,
      undoCheckpointId: null,
      repositories: [],
      discardedMessageIds: [],
      trimAfterMessageId: head.messageId,
      warnings,
    };
  };

  return async (input: MergeInput, invocation: Invocation): Promise<MergeAnswer> => {
    const { into, requestId, epoch, paths, dryRun } = input;
    const hash = requestHash({
      kind: 'merge',
      from: input.from,
      paths,
      markers: input.markers ?? false,
      allowMarkers: input.allowMarkers === true ? true : undefined,
      expectUnchanged: input.expectUnchanged === true ? true : undefined,
    });
    const begun = await store.getRollback(into, requestId);
    if (begun !== undefined && begun.requestHash !== hash) throw conflictingRequest(requestId);
    /**
     * An error that would refuse a new request does not apply if another call has begun the same request
     * meanwhile.
     */
    const unlessBegun = async (error: unknown): Promise<undefined> => {
      if ((await store.getRollback(into, requestId)) === undefined) throw error;
    };
    const seen = begun?.composition?.kind === 'merge' ? undefined : await look(input).catch(unlessBegun);
    // "Nothing to merge" is no answer when the caller decided in another epoch.
    const isCurrent = epoch === undefined || epoch === seen?.into.epoch;
    const isNothing = seen?.isNothing === true && isCurrent;
    const done = () =>
      move(
        {
          sessionId: into,
          requestId,
          epoch,
          dryRun,
          hash,
          // While the target has not changed since the look, the composition is still right.
          choose: async ({ session }) => ({
            composition: (seen?.into.version === session.version ? seen : await look(input)).composition,
          }),
        },
        invocation,
      );
    const [answered, uncaptured] = await Promise.all([
      isNothing ? nothing(seen.into, seen.warnings) : done(),
      // A request that was begun before brings what its source held then.
      isNothing || begun === undefined ? uncapturedSource(input.from, requestId, invocation) : [],
    ]);
    // Another call may have begun the same request, with what the fork held at that time.
    const journal = begun ?? (await store.getRollback(into, requestId));
    const merge = journal?.composition?.kind === 'merge' ? journal.composition : seen?.composition;
    if (merge === undefined) throw unrelated(input.from, into);
    const [from, base] = await Promise.all([pointOf(merge.from), pointOf(merge.base)]);
    // What is stored of a merge is its answer for ever. A plan is looked at now.
    const isPlan = answered.status === 'PLANNED';
    const warnings = [...((isPlan && seen?.warnings) || []), ...answered.warnings, ...uncaptured];
    return { ...answered, warnings, from, base };
  };
};
