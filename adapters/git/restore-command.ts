/** The restore command: its input values, and the meaning of its output. Pure. */
import type {
  RestoredRepository,
  RestoreReport,
  RestoreRepository,
  RestoreRequest,
  SetAside,
  SettleReport,
  VerifiedState,
} from '../../core/checkpoint/ports/restore.ts';
import { refName } from './capture-command.ts';
import { hostChange } from './host-change.ts';
import type { IncomingBundle } from './join-links.ts';
import { all, type Pair, reasonIn, records, value, warningsOf } from './output.ts';
import { buildScript, type Script, spillFor } from './script.ts';
import { lockWaitSeconds } from './script-deadline.ts';

/** A repository of a request, with its bundles as they lie in the sandbox. */
type IncomingRepository = Omit<RestoreRepository, 'bundles'> & { bundles: readonly IncomingBundle[] };

export type IncomingRequest = Omit<RestoreRequest, 'repositories'> & {
  repositories: readonly IncomingRepository[];
};

export const bundleNames = (bundles: readonly IncomingBundle[]): string =>
  bundles
    .map(({ how, sha256, cuts }) => [how, sha256, ...(cuts === undefined ? [] : [cuts.sha256])].join(':'))
    .join(' ');

export const restoreScript = (request: IncomingRequest, call: string, mark: string): Script => {
  const { repositories } = request;
  return buildScript(
    request.settle === undefined ? 'restore' : 'settle',
    {
      SESSION: request.sessionId,
      CALL: call,
      MAX_BYTES: request.maxFileBytes,
      MAX_DEPTH: request.maxDepth,
      LOCK_WAIT: lockWaitSeconds(request.timeoutMs),
      INCLUDE: request.include,
      EXCLUDE: request.exclude,
      FILES_ONLY: request.filesOnly ? 1 : 0,
      DRY_RUN: request.dryRun ? 1 : 0,
      MEND: request.settle ?? '',
      FRESH: request.fresh === true ? 1 : 0,
      COMPANY: request.allowConcurrentWriters === true ? 1 : 0,
      TARGET_TAG: request.targetTag === undefined ? '' : refName(request.targetTag),
      R_PATH: repositories.map((one) => one.path),
      R_FORMAT: repositories.map((one) => one.objectFormat),
      R_PARTIAL: repositories.map((one) => (one.partial ? '1' : '')),
      R_TREE: repositories.map((one) => one.target?.tree ?? ''),
      R_META: repositories.map((one) => one.target?.meta ?? ''),
      R_NOW_TREE: repositories.map((one) => one.now?.tree ?? ''),
      R_NOW_META: repositories.map((one) => one.now?.meta ?? ''),
      R_UNDO_TREE: repositories.map((one) => one.undo?.tree ?? ''),
      R_UNDO_META: repositories.map((one) => one.undo?.meta ?? ''),
      R_STASH: repositories.map((one) => one.stash?.join(' ') ?? ''),
      R_BUNDLES: repositories.map((one) => bundleNames(one.bundles)),
      R_SKIPPED: repositories.flatMap((one, index) => (one.skipped ?? []).map((path) => `${index}:${path}`)),
    },
    {
      mark,
      timeoutMs: request.timeoutMs,
      spill: spillFor(request.projectsRoot, request.sessionId, call),
    },
  );
};

const OUTCOMES = ['applied', 'planned', 'refused', 'reverted', 'broken'] as const;
const ACTIONS = ['restored', 'created', 'parked'] as const;
const PROBLEMS = ['conflict', 'changed', 'missing-objects', 'unsafe-path', 'interrupted', 'failed'] as const;

const verified = (record: readonly Pair[]): VerifiedState | null => {
  const tree = value(record, 'verified-tree');
  const meta = value(record, 'verified-meta');
  return tree === undefined || meta === undefined
    ? null
    : { tree, meta, apart: all(record, 'verified-apart') };
};

const restoredRepository = (record: readonly Pair[]): RestoredRepository => {
  const path = value(record, 'repo') ?? '.';
  const written = Number(value(record, 'written') ?? 0);
  const deleted = Number(value(record, 'deleted') ?? 0);
  const planned = ACTIONS.find((action) => action === value(record, 'plan'));
  const host = hostChange(record);
  const isSame = written + deleted === 0 && host === undefined;
  return {
    path,
    action: planned === undefined || (planned === 'restored' && isSame) ? 'unchanged' : planned,
    written,
    deleted,
    ...(host && { host }),
    verified: verified(record),
    paths: records(record, 'plan-path').map((entry) => ({
      path: value(entry, 'plan-path') ?? '',
      change: value(entry, 'plan-change') === 'delete' ? 'delete' : 'write',
    })),
  };
};

const setAside = (record: readonly Pair[]): SetAside => ({
  path: value(record, 'aside-repository') ?? '.',
  directory: value(record, 'aside') ?? '',
  late: record.flatMap(([key, path]) => (key === 'aside-late' ? [path] : [])),
  open: record.flatMap(([key, path]) => (key === 'aside-open' ? [path] : [])),
});
const ENDS = ['none', 'target', 'undo'] as const;

/** What `settle` found. Undefined when it could not look. */
const settleReport = (pairs: readonly Pair[]): SettleReport | undefined => {
  const end = ENDS.find((one) => one === value(pairs, 'mend-end'));
  if (end === undefined) return undefined;
  return {
    end,
    reached: Number(value(pairs, 'mend-reached') ?? 0),
    unreached: Number(value(pairs, 'mend-unreached') ?? 0),
    kept: all(pairs, 'mend-kept'),
    keptNotListed: Number(value(pairs, 'mend-kept-more') ?? 0),
  };
};

/**
 * Reads the output of the restore command. An unknown outcome becomes `broken`, and is never taken for
 * success.
 */
export const restoreReport = (
  pairs: readonly Pair[],
  request: IncomingRequest,
  roundTrips: number,
): RestoreReport => {
  const repositories = records(pairs, 'repo');
  const first = pairs.findIndex(([key]) => key === 'repo');
  const common = first < 0 ? pairs : pairs.slice(0, first);
  return {
    outcome: OUTCOMES.find((outcome) => outcome === value(pairs, 'outcome')) ?? 'broken',
    repositories: repositories.map((record) => restoredRepository(record)),
    problems: repositories.flatMap((record) =>
      records(record, 'problem').map((entry) => ({
        path: value(record, 'repo') ?? '.',
        kind: PROBLEMS.find((kind) => kind === value(entry, 'problem')) ?? 'failed',
        message: reasonIn(entry, 'problem-message'),
      })),
    ),
    warnings: [...all(common, 'warning').map((text) => text.trim()), ...warningsOf(repositories)],
    asides: records(common, 'aside').map((entry) => setAside(entry)),
    ...(request.settle !== undefined && { settled: settleReport(pairs) }),
    roundTrips,
  };
};
