/** Chooses the error for a restore that did not happen. Pure. */
import type { ErrorName } from '../../../contract/errors.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { RestoreReport } from '../ports/restore.ts';
import { type AsidesResult, asideWarnings } from './asides.ts';

type ProblemKind = RestoreReport['problems'][number]['kind'];

const NAMES: Record<ProblemKind, ErrorName> = {
  changed: 'SandboxChanged',
  conflict: 'RestoreConflict',
  'unsafe-path': 'RestoreConflict',
  'missing-objects': 'BundleMissing',
  interrupted: 'SandboxUnavailable',
  failed: 'RestoreFailed',
};

const ADVICE: Record<ProblemKind, string> = {
  changed: 'Something wrote into the sandbox meanwhile. Stop it, then try again with a new requestId.',
  conflict: 'Move the paths out of the way, then try again with a new requestId.',
  'unsafe-path': 'Move the paths out of the way, then try again with a new requestId.',
  'missing-objects': 'Choose another checkpoint.',
  interrupted: 'Call again.',
  failed: 'See the reason, then try again with a new requestId.',
};

/** The most useful problem first: one that a person can do something about. */
const ORDER: ProblemKind[] = [
  'conflict',
  'unsafe-path',
  'missing-objects',
  'interrupted',
  'failed',
  'changed',
];

const STATE: Record<RestoreReport['outcome'], string> = {
  applied: 'Everything is at the target.',
  planned: 'Nothing was changed.',
  refused: 'Nothing was changed.',
  reverted: 'Everything was put back.',
  broken: 'Not everything could be put back: repositories stand between the target and where they were.',
};

const kindOf = (report: RestoreReport): ProblemKind =>
  ORDER.find((one) => report.problems.some((problem) => problem.kind === one)) ?? 'failed';

/** The first problems as one text. Has a text of its own for a sandbox that names no problem. */
export const problemText = (problems: readonly { path: string; message: string }[]): string =>
  problems
    .slice(0, 10)
    .map(({ path, message }) => `${path}: ${message}`)
    .join('; ') || 'the sandbox did not say why';

/** `kept`: what became of files that other processes wrote meanwhile. */
export const restoreError = (
  report: RestoreReport,
  kept: AsidesResult = { warnings: asideWarnings(report.asides) },
): WalkbackError => {
  const kind = kindOf(report);
  const state = STATE[report.outcome];
  const said = kept.warnings.map((line) => ` ${line}.`);
  return new WalkbackError(
    NAMES[kind],
    `${problemText(report.problems)}. ${state}${said.join('')} ${ADVICE[kind]}`,
    {
      details: {
        outcome: report.outcome,
        problems: report.problems.slice(0, 100),
        ...(kept.lateWrites && { lateWrites: kept.lateWrites }),
      },
    },
  );
};

/**
 * A process in the sandbox was ended from outside, and no repository stands between two states. The same
 * request can go on.
 */
export const isInterrupted = (report: RestoreReport): boolean =>
  report.outcome !== 'broken' && kindOf(report) === 'interrupted';

export const onlyChanged = (report: RestoreReport): boolean =>
  report.problems.length > 0 && report.problems.every(({ kind }) => kind === 'changed');

/**
 * Whether a capture that knows the target might solve every problem: such a capture holds the files that are
 * in the way, and looks at the directories where repositories will come.
 */
const onlyUnseen = (report: RestoreReport): boolean =>
  report.problems.length > 0 &&
  report.problems.every(({ kind }) => kind === 'conflict' || kind === 'changed');

/**
 * Whether to look once more before refusing, because the capture could not know what the target holds: the
 * target was composed from it, or the target's objects were missing.
 */
export const isSeenNext = (
  report: RestoreReport,
  capture: { wasComposed: boolean; missingTargets: readonly string[] },
): boolean =>
  report.outcome === 'refused' &&
  (capture.wasComposed || capture.missingTargets.length > 0) &&
  onlyUnseen(report);

/**
 * Stands in for an answer of the sandbox, which was not asked: another run of the request is ahead, so look
 * again.
 */
export const anotherRun: RestoreReport = {
  outcome: 'refused',
  repositories: [],
  problems: [{ path: '.', kind: 'changed', message: 'another call works on this rollback' }],
  warnings: [],
  roundTrips: 0,
};

export const changedError = (): WalkbackError =>
  new WalkbackError(
    'SandboxChanged',
    'The sandbox kept changing while it was to be rolled back. Nothing was changed. Stop what writes into it, then try again with a new requestId.',
  );

/** The sandbox may stand between two checkpoints, and the journal stays open. */
export const unfinished = (requestId: string, why: string, cause?: unknown): WalkbackError =>
  new WalkbackError(
    'RollbackIncomplete',
    `Rollback "${requestId}" is not finished: ${why} Call again with the same requestId to finish it, or rebuild the session in a fresh sandbox with walkback-rehydrate and mode "resume" (walkback rehydrate --to POINT --mode resume).`,
    { cause, retryable: true, details: { requestId } },
  );
