/**
 * Shows what a rollback would do. Nothing is written into working files or tables, and the capture is not
 * indexed.
 */
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import type { RollbackInput } from '../../../contract/checkpoint-inputs.ts';
import type { MaybeAsked } from '../../../contract/identity.ts';
import { RESERVED_ID_PREFIX } from '../../../contract/ids.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { rollbackResult } from '../attempt/rollback-state.ts';
import { createDryCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createTelling } from '../capture/tell-progress.ts';
import { type Composed, createCompose } from '../compose/compose.ts';
import { enteredIn } from '../compose/entered.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, Composition, RepositoryState } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import { gitWarnings } from '../restore/git-warnings.ts';
import { isSeenNext, restoreError } from '../restore/restore-errors.ts';
import {
  bringMissing,
  planRestore,
  requireUndoable,
  restoreRequest,
  statesToBring,
  targetsOf,
} from '../restore/restore-plan.ts';
import { createTellingRestore } from '../restore/telling-restore.ts';
import { busyOf, headSeqOf, sandboxOf, type WorkTimeline } from '../session/place.ts';
import { requestHash } from '../session/request-hash.ts';
import { requireFree } from '../settle/abandoned.ts';
import { findTarget, requireComplete } from '../timeline/targets.ts';
import { workSince } from '../timeline/whose-work.ts';

export type RollbackRequest = MaybeAsked<RollbackInput>;

/** The checkpoint to go to, or how the state to go to is made. */
export type Goal = { target: Checkpoint } | { composition: Composition };

/** A request to move a sandbox. */
export interface Wanted
  extends Pick<
    RollbackRequest,
    'sessionId' | 'requestId' | 'epoch' | 'sandboxId' | 'dryRun' | 'filesOnly' | 'allowPartial' | 'by'
  > {
  /** Hash of the request's content. */
  hash: string;
  choose: (place: WorkTimeline) => Promise<Goal>;
}

/**
 * Who asks, the epoch that the request was decided in, and the checkpoint of a message that its plan showed are
 * not part of the hash: somebody else may finish the same request.
 */
export const hashOf = (input: RollbackRequest): string =>
  requestHash({
    messageId: input.messageId,
    checkpointId: input.messageId === undefined ? input.checkpointId : undefined,
    sandboxId: input.sandboxId,
    filesOnly: input.filesOnly ?? false,
    allowPartial: input.allowPartial ?? false,
    paths: input.paths,
  });

const notFinished = ({ kind, requestId }: Busy): string =>
  `${kind} "${requestId}" is not finished; it is settled before this rollback begins, so the plan may change`;

export const chooseTarget = async (store: SessionStore, input: RollbackRequest): Promise<Checkpoint> => {
  const target = await findTarget(store, input.sessionId, input);
  if (input.allowPartial !== true) await requireComplete(store, target);
  return target;
};

/** A dry capture only names states. The checkpoint below it knows where their repositories are stored. */
const onRecord = (now: readonly RepositoryState[], below: readonly RepositoryState[]): RepositoryState[] =>
  now.map((state) => ({ ...below.find(({ path }) => path === state.path), ...state }));

/** The undo checkpoint that the rollback would capture. Work since the head may belong to another message. */
const undoOf = (place: WorkTimeline, head: Checkpoint): Checkpoint => {
  const messageId = place.copy === undefined ? workSince(head, place.session).messageId : head.messageId;
  if (messageId === head.messageId) return head;
  return { ...head, seq: place.session.seq + 1, parentSeq: head.seq, messageId, messageOrder: null };
};

export const createRollbackPreview = (deps: RollbackDeps) => {
  const { store, sandboxes, clock } = deps;
  const dryCapture = createDryCapture(deps, createTelling(deps));
  const restoreIn = createTellingRestore(deps);
  const bundleSources = createBundleSources(deps);
  const compose = createCompose(deps);

  /** What is left to do for a request that was begun. */
  const goalOf = async (begun: RollbackJournal): Promise<Goal> =>
    begun.composition !== undefined && begun.targetSeq === 0
      ? { composition: begun.composition }
      : { target: await findTarget(store, begun.sessionId, {}, begun.targetSeq) };

  /**
   * Captures the state of now, and composes from it. Nothing is stored. `before`: the previous look, from
   * which it is known what the composed state holds.
   */
  const look = async (
    input: Wanted,
    place: WorkTimeline,
    goal: Goal,
    invocation: Invocation,
    before?: { captured: Captured; composed: Composed | undefined },
  ) => {
    const { session } = place;
    const planId = `${RESERVED_ID_PREFIX}plan-${input.hash.slice(0, 24)}`;
    const [sandbox, head] = await Promise.all([
      sandboxes.open(sandboxOf(place)),
      findTarget(store, session.sessionId, {}, headSeqOf(place)),
    ]);
    const captured = await dryCapture(
      {
        session,
        sandbox,
        head,
        toolExecutionId: planId,
        messageId: head.messageId,
        reason: 'rollback',
        targets: targetsOf(
          'target' in goal ? goal.target.repositories : (before?.composed?.repositories ?? []),
        ),
      },
      invocation,
    );
    requireUndoable(captured);
    const composed =
      'composition' in goal
        ? await compose(
            {
              session,
              sandbox,
              composition: goal.composition,
              now: {
                repositories: onRecord(captured.repositories, head.repositories),
                toolExecutionId: planId,
              },
              toolExecutionId: planId,
              entered: enteredIn(before, captured),
              messageId: head.messageId,
              isStored: false,
            },
            invocation,
          )
        : undefined;
    return { planId, sandbox, head, captured, composed };
  };

  /** What the restore would do, by one look. */
  const tryPlan = async (
    input: Wanted,
    place: WorkTimeline,
    goal: Goal,
    invocation: Invocation,
    seen: Awaited<ReturnType<typeof look>>,
  ) => {
    const { session } = place;
    const { planId, sandbox, head, captured, composed } = seen;
    const now = captured.repositories;
    // With conflicts nothing is composed, so the plan changes nothing.
    const isMade = composed === undefined || composed.repositories.length > 0 || now.length === 0;
    const target: Checkpoint =
      'target' in goal
        ? goal.target
        : { ...head, repositories: isMade ? (composed?.repositories ?? []) : now };
    const how = {
      filesOnly: input.filesOnly ?? false,
      dryRun: true,
      targetTag: 'target' in goal ? goal.target.toolExecutionId : planId,
      timeoutMs: commandTimeout(invocation, clock),
    };
    // A plan stores nothing. The objects of what it captured and composed are in the sandbox, or come with
    // the head's chain.
    const stored = (state: RepositoryState): RepositoryState => {
      const [here, before] = [now, head.repositories].map((states) =>
        states.find(({ path }) => path === state.path),
      );
      return before !== undefined && here?.commit === state.commit ? before : state;
    };
    const tryRestore = async (wanted: readonly RepositoryState[]) => {
      const sources = await bundleSources(session.sessionId, wanted.map(stored));
      const planned = planRestore({
        target: target.repositories,
        now,
        undo: now,
        skipped: target.skipped,
        sources,
      });
      const request = restoreRequest(session, how, planned.repositories);
      const ofGit = gitWarnings(target, now, how);
      const report = await restoreIn(sandbox, request);
      return { report, warnings: [...planned.warnings, ...ofGit] };
    };
    const wanted = statesToBring(target.repositories, captured);
    const restored = await bringMissing(target.repositories, wanted, tryRestore);
    return { ...restored, target, composed, head };
  };

  /**
   * The plan of a request that may begin, whichever call holds the timeline. It looks as often as the request
   * itself would.
   */
  const plan = async (
    input: Wanted,
    place: WorkTimeline,
    goal: Goal,
    invocation: Invocation,
  ): Promise<RollbackAnswer> => {
    const { session } = place;
    const seen = await look(input, place, goal, invocation);
    let planned = await tryPlan(input, place, goal, invocation, seen);
    const { missingTargets } = seen.captured;
    if (isSeenNext(planned.report, { wasComposed: seen.composed !== undefined, missingTargets })) {
      const again = await look(input, place, goal, invocation, seen);
      planned = await tryPlan(input, place, goal, invocation, again);
    }
    const { report, target, composed, head } = planned;
    if (report.outcome !== 'planned') throw restoreError(report);
    const tree = await store.listTree(session.sessionId);
    const undo = 'target' in goal ? undoOf(place, head) : head;
    const warnings = [...planned.warnings, ...report.warnings];
    return rollbackResult({
      status: 'PLANNED',
      journal: { epoch: session.epoch, ...('composition' in goal && { composition: goal.composition }) },
      target,
      undo,
      tree: undo === head ? tree : [...tree, undo],
      report,
      warnings,
      composed,
    });
  };

  /**
   * Answers a plan, whichever call holds the timeline. If another run left work half done, the plan looks
   * at it as it is and does not finish it. The plan of a request that was begun shows the rest of its way.
   */
  const preview = async (
    input: Wanted,
    place: WorkTimeline,
    begun: RollbackJournal | undefined,
    invocation: Invocation,
  ): Promise<RollbackAnswer> => {
    const { sessionId } = place.session;
    const goal = begun === undefined ? await input.choose(place) : await goalOf(begun);
    const busy = busyOf(place);
    const holder = busy?.requestId === begun?.requestId ? undefined : busy;
    if (holder !== undefined) requireFree(sessionId, holder, clock.now().getTime());
    const planned = await plan(input, place, goal, invocation);
    return holder === undefined
      ? planned
      : { ...planned, warnings: [...planned.warnings, notFinished(holder)] };
  };

  return { plan, preview };
};
