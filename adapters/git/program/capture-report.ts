/** The request of a capture, and the meaning of its report. Pure. */
import type * as z from 'zod';
import type { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { SandboxCommand } from '../../../contract/sandbox/requests.ts';
import type {
  CapturedRepository,
  CaptureOutline,
  CaptureRequest,
} from '../../../core/checkpoint/ports/capture.ts';
import {
  type AnnouncedBundle,
  type AnnouncedChanges,
  CHANGES_LIMITS,
  type RecordFile,
} from '../announced.ts';
import { lockWaitSeconds } from '../lock-wait.ts';
import { refName } from '../ref-name.ts';

type Report = z.infer<(typeof SANDBOX_REPORTS)['capture']>;
type Reported = Report['repositories'][number];
/** What announces bundles and records. */
export type Carrying = Pick<Report, 'bundles' | 'records'> & {
  repositories: Pick<Reported, 'path' | 'capture' | 'changes'>[];
};
type Command = Extract<SandboxCommand, { kind: 'capture' }>;

/** Seconds the command waits to be told where large bundles go. */
const UPLOAD_WAIT_SECONDS = 60;

/** How much travels how. */
export const carryLimits = (maxInlineBytes: number, outputBytes: number): Command['limits'] => ({
  inlineBytes: outputBytes,
  carryBytes: maxInlineBytes,
  uploadWaitSeconds: UPLOAD_WAIT_SECONDS,
  recordBytes: CHANGES_LIMITS.each,
  recordsBytes: CHANGES_LIMITS.all,
});

/** What the store has of a repository. */
export const knownRepository = ({
  path,
  commit,
  tree,
  meta,
  base,
  baseCommit,
  next,
  isGone,
}: CaptureRequest['known'][number]): Command['known'][number] => ({
  path,
  commit,
  tree,
  meta,
  base: base ?? null,
  baseCommit: baseCommit ?? null,
  next,
  isGone: isGone === true,
});

export const captureCommand = (request: CaptureRequest, call: string, outputBytes: number): Command => ({
  kind: 'capture',
  sessionId: request.sessionId,
  call,
  tag: refName(request.toolExecutionId),
  message: request.messageId ?? '-',
  reason: request.reason,
  maxFileBytes: request.maxFileBytes,
  maxDepth: request.maxDepth,
  lockWaitSeconds: lockWaitSeconds(request.timeoutMs),
  include: request.include,
  exclude: request.exclude,
  known: request.known.map((one) => knownRepository(one)),
  mentioned: request.mentioned ?? [],
  knownBases: request.knownBases,
  targets: (request.targets ?? []).map(({ path, commit, tree, meta }) => ({ path, commit, tree, meta })),
  changes: request.changes === true,
  limits: carryLimits(request.maxInlineBytes, outputBytes),
});

export const capturedRepository = ({
  path,
  state,
  capture,
  info,
}: Pick<Reported, 'path' | 'state' | 'capture' | 'info'>): CapturedRepository => {
  if (state === 'absent') return { path, state, changed: true };
  if (state !== 'captured' || capture === undefined) return { path, state: 'failed', changed: false };
  const { stash, chain, base, baseCommit, ...ids } = capture;
  return {
    path,
    state,
    ...ids,
    changed: chain !== undefined,
    ...(chain !== undefined && { chain }),
    base,
    baseCommit,
    ...(stash.length > 0 && { stash }),
    ...(info && { info: { path, commits: 0, ...info, ...(base !== undefined && { base }) } }),
  };
};

/** A path of a repository, as seen from the projects root. */
export const below = (repository: string, path: string): string =>
  repository === '.' ? path : path === '.' ? repository : `${repository}/${path}`;

export const outlineOf = ({
  repositories,
  skipped,
}: Pick<Report, 'repositories' | 'skipped'>): CaptureOutline => ({
  repositories: repositories.map((one) => capturedRepository(one)),
  failures: repositories.flatMap(({ path, failures }) =>
    failures.map((one) => ({ ...one, path: below(path, one.path) })),
  ),
  skipped: [
    ...skipped,
    ...repositories.flatMap((repository) =>
      repository.skipped.map((one) => ({ ...one, path: below(repository.path, one.path) })),
    ),
  ],
  late: [],
});

/** A bundle that names no repository, or one that was not captured, is not there. So is a second one of the same name. */
export const bundlesOf = ({ repositories, bundles }: Carrying): AnnouncedBundle[] => {
  const found = new Map<string, AnnouncedBundle>();
  for (const { repository, kind, sizeBytes, sha256, carry } of bundles) {
    const { path, capture } = repositories[repository] ?? {};
    const commit = kind === 'base' ? capture?.baseCommit : capture?.commit;
    const name = `${repository}.${kind}`;
    if (path === undefined || capture === undefined || commit === undefined || found.has(name)) continue;
    found.set(name, {
      name,
      repositoryPath: path,
      kind,
      commit,
      ...(kind === 'base' ? { base: capture.base } : { chain: capture.chain }),
      sizeBytes,
      sha256,
      carry,
    });
  }
  return [...found.values()];
};

const MAX_PROBLEM = 300;

/** One for each repository that changed, in the order in which their bytes come: those with a record first. */
export const changesOf = ({ repositories, records }: Carrying): AnnouncedChanges[] => {
  const files = new Map<number, { file: RecordFile; isCut: boolean }>();
  for (const { repository, sizeBytes, isPacked, isCut, carry } of records)
    if (!files.has(repository)) files.set(repository, { file: { sizeBytes, carry, isPacked }, isCut });
  const order = [...files.keys()];
  const place = (at: number): number => (files.has(at) ? order.indexOf(at) : order.length);
  return repositories
    .map((repository, at) => ({ repository, at }))
    .filter(({ repository }) => repository.capture?.chain !== undefined)
    .toSorted((one, other) => place(one.at) - place(other.at))
    .map(({ repository: { path, changes }, at }) => {
      const announced = files.get(at);
      const problems = (changes?.problems ?? []).map((text) => text.slice(0, MAX_PROBLEM));
      return {
        path,
        ...(changes?.host && { host: changes.host }),
        isCut: changes?.isCut === true || announced?.isCut === true,
        ...(changes?.totals !== undefined && { totals: changes.totals }),
        ...(problems.length > 0 && { problem: problems.slice(0, 3).join('; ') }),
        ...(announced && { file: announced.file }),
      };
    });
};
