/** What the journal of a rollback says: its phase, what the phase allows, and the answer. Pure. */

import type { LateWrites } from '../../../contract/answer-fields.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { KIB } from '../../../contract/sizes.ts';
import { firstLines, firstThatFit } from '../../shared/bounded.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { rollbackToolId } from '../../shared/ids.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { plural } from '../../shared/plural.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, ComposedFacts } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { TreeNode } from '../ports/stores.ts';
import { targetsOf } from '../restore/restore-plan.ts';
import type { WorkTimeline } from '../session/place.ts';
import { halfWrittenWarnings } from '../timeline/targets.ts';
import { discardedBetween } from '../timeline/tree.ts';

export type OpenPhase = Exclude<RollbackJournal['phase'], 'done' | 'failed'>;

export const isOpen = ({ phase }: RollbackJournal): boolean => phase !== 'done' && phase !== 'failed';

/** Whether the command that writes may have been sent. */
export const mayHaveWritten = ({ phase }: RollbackJournal): boolean => phase === 'writing';

/**
 * The answer of a journal that ended, or undefined while it is open. For a failed one, throws the recorded
 * error.
 */
export const endedAnswer = (journal: RollbackJournal): RollbackAnswer | undefined => {
  if (journal.phase === 'failed' && journal.error !== undefined) {
    throw new WalkbackError(journal.error.name, journal.error.message, {
      // From now on, this error is the request's answer.
      retryable: false,
      details: { requestId: journal.requestId },
    });
  }
  return journal.phase === 'done' ? journal.result : undefined;
};

/** What the next capture of now asks for. `target`: undefined until the state to reach is composed. */
export const nextCapture = (from: {
  journal: RollbackJournal;
  place: WorkTimeline;
  head: Checkpoint | undefined;
  sandbox: ExecutionAdapter;
  target: Checkpoint | undefined;
}) => ({
  session: from.place.session,
  sandbox: from.sandbox,
  head: from.head,
  toolExecutionId: rollbackToolId(from.journal.requestId, from.journal.captures + 1),
  messageId: from.head?.messageId ?? null,
  reason: 'rollback',
  targets: targetsOf(from.target?.repositories ?? []),
});

/** The journal with one more capture of now. What was there first is what the rollback can be undone to. */
export const withCapture = (
  journal: RollbackJournal,
  { seq, createdAt }: Checkpoint,
  phase = journal.phase,
): RollbackJournal => ({
  ...journal,
  phase,
  captures: journal.captures + 1,
  undoSeq: journal.undoSeq ?? seq,
  updatedAt: createdAt,
});

/** The journal with an error, which this and every later call of the request throws. */
export const failedWith = (journal: RollbackJournal, { name, message }: WalkbackError): RollbackJournal => ({
  ...journal,
  phase: 'failed',
  error: { name, message },
});

/** The review copy a journal works in; undefined for the session's own sandbox. */
export const copyOf = (journal: RollbackJournal): string | undefined =>
  journal.detached ? journal.sandboxId : undefined;

/**
 * The result is kept in the journal, which is one item of at most 400 KB. A rollback that is done must never
 * fail because its result is too long. So all lists together get the room that the rest of the journal
 * leaves, and a list that was cut says so.
 */
const ITEM_BYTES = 380_000;
/** The lists always have at least this: contract/fields.ts bounds the paths in the journal. */
const LEAST_BYTES = 160_000;

const WARNINGS = { count: 200, bytes: 40 * KIB };
const CONFLICTS = { count: 200, bytes: 32 * KIB };
/** Branches that are listed per repository. */
const MAX_BRANCHES = 50;
/** Limit for the changes beside the files, in all repositories together. */
const HOST_BYTES = 32 * KIB;
const MAX_MESSAGES = 2000;
/** Paths of a plan that are listed per repository; the counts are exact. A plan is not kept. */
const MAX_PATHS = 200;
const PLAN_BYTES = 2 * 1024 * KIB;

/** Single files that could not be read. They are left in place, and are not in the undo checkpoint. */
const notUndoable = (undo: Checkpoint): string[] =>
  undo.failures.map(({ path, reason }) => `${path}: not in the undo checkpoint: ${reason}`);

type Told = RollbackAnswer['repositories'][number];

/** Lists the changes beside the files, repository by repository, as long as there is room. */
const withHosts = (repositories: readonly Told[]): { told: Told[]; cut: string[] } => {
  let room = HOST_BYTES;
  let [unlisted, branches] = [0, 0];
  const told = repositories.map((one) => {
    if (one.host === undefined) return one;
    const listed = one.host.branches.slice(0, MAX_BRANCHES);
    const others = one.host.branches.length - listed.length + (one.host.branchesLeft ?? 0);
    const host = { ...one.host, branches: listed, ...(others > 0 && { branchesLeft: others }) };
    room -= jsonBytes(host);
    if (room >= 0) {
      branches += others;
      return { ...one, host };
    }
    unlisted += 1;
    const { host: _host, ...rest } = one;
    return rest;
  });
  return {
    told,
    cut: [
      ...(branches > 0
        ? [branches === 1 ? '1 more branch changes' : `${branches} more branches change`]
        : []),
      ...(unlisted > 0
        ? [
            `what changes beside files in ${plural(unlisted, 'more repository', 'more repositories')} is not listed`,
          ]
        : []),
    ],
  };
};

/** When there is not room for all, repositories that change come first. */
const mostTelling = (repositories: readonly Told[], bytes: number): Told[] => {
  if (jsonBytes(repositories) <= bytes) return [...repositories];
  const rank = ({ action }: Told): number => (action === 'unchanged' ? 1 : 0);
  const ordered = repositories.toSorted((a, b) => rank(a) - rank(b));
  return firstThatFit(ordered, { count: ordered.length, bytes });
};

const more = (left: number, what: string): string[] => (left > 0 ? [`${left} more ${what}`] : []);

export const rollbackResult = (from: {
  status: RollbackAnswer['status'];
  journal: Pick<RollbackJournal, 'epoch' | 'by' | 'composition'>;
  target: Checkpoint;
  /** In a plan, the checkpoint that the sandbox stands on, because a plan captures nothing to undo to. */
  undo: Checkpoint;
  tree: readonly TreeNode[];
  report: RestoreReport;
  warnings: string[];
  /** In a plan, about the target that the request would compose. Else the target has it. */
  composed?: ComposedFacts | undefined;
  lateWrites?: LateWrites | undefined;
}): RollbackAnswer => {
  const { status, target, undo } = from;
  const isPlan = status === 'PLANNED';
  const { composition } = from.journal;
  const composed = from.composed ?? (composition === undefined ? undefined : target.composed);
  const conflicts = firstThatFit(composed?.conflicts ?? [], CONFLICTS);
  const warnings = firstLines(
    [
      ...halfWrittenWarnings(target),
      ...(composed?.warnings ?? []),
      ...from.warnings,
      ...(isPlan ? [] : notUndoable(undo)),
    ],
    WARNINGS,
    (left) => `${left} more warnings`,
  );
  const before = { ...from.journal, ...from.lateWrites, conflicts, warnings };
  const room = Math.max(LEAST_BYTES, ITEM_BYTES - jsonBytes(before));
  const all = from.report.repositories.map(
    ({ path, written, deleted, action, host }): Told => ({
      path,
      written,
      deleted,
      action,
      ...(host && { host }),
    }),
  );
  const hosts = withHosts(all);
  const repositories = mostTelling(hosts.told, Math.floor((room * 3) / 4));
  const discarded = discardedBetween(from.tree, undo.seq, target.seq);
  const discardedMessageIds = firstThatFit(discarded, {
    count: MAX_MESSAGES,
    bytes: room - jsonBytes(repositories),
  });
  const paths = new Map(from.report.repositories.map((one) => [one.path, one.paths]));
  const share = { count: MAX_PATHS, bytes: Math.floor(PLAN_BYTES / Math.max(1, repositories.length)) };
  const cut = [
    ...hosts.cut,
    ...more(all.length - repositories.length, 'repositories are not listed'),
    ...more(
      discarded.length - discardedMessageIds.length,
      'messages are discarded: all after trimAfterMessageId',
    ),
  ];
  return {
    status,
    checkpointId: target.checkpointId,
    ...(composition?.kind === 'paths' && { pathsFrom: composition.fromId }),
    epoch: from.journal.epoch,
    undoCheckpointId: isPlan ? null : undo.checkpointId,
    repositories: repositories.map((one) => ({
      ...one,
      ...(isPlan && { paths: firstThatFit(paths.get(one.path) ?? [], share) }),
    })),
    discardedMessageIds,
    trimAfterMessageId: target.messageId,
    warnings: [...warnings, ...cut],
    ...(conflicts.length > 0 && { conflicts }),
    ...(from.lateWrites && { lateWrites: from.lateWrites }),
    ...(from.journal.by && { by: from.journal.by }),
  };
};
