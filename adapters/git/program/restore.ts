/** Restores with the native program. What it does not restore yet is left to the scripts. */
import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { SandboxCommand } from '../../../contract/sandbox/requests.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import type {
  RestoredRepository,
  RestoreReport,
  RestoreRepository,
  RestoreRequest,
} from '../../../core/checkpoint/ports/restore.ts';
import { refName } from '../capture-command.ts';
import { lockWaitSeconds } from '../script-deadline.ts';
import type { SandboxProgram } from './call.ts';

type Command = Extract<SandboxCommand, { kind: 'restore' }>;
type Report = z.infer<(typeof SANDBOX_REPORTS)['restore']>;

/** What the native program does not restore yet. Undefined: it restores this request. */
export const notNative = (request: RestoreRequest): string | undefined => {
  const { repositories, settle, fresh, filesOnly } = request;
  if (settle !== undefined && repositories.some((one) => !stays(one)))
    return 'a rollback that broke off while repositories came or went is settled by the scripts';
  if (fresh === true) return 'a fresh sandbox is filled by the scripts';
  if (repositories.some((one) => stays(one) && one.bundles.length > 0))
    return 'bundles are brought in by the scripts';
  const moving = repositories.filter((one) => !stays(one) && !isAbsent(one));
  if (moving.some((one) => !leaves(one) && !comes(one)))
    return 'repositories that were half there are restored by the scripts';
  if (moving.length > 0 && filesOnly)
    return 'the files of repositories that come or go are restored by the scripts';
  const paths = repositories.map(({ path }) => path);
  if (moving.some((one) => paths.some((path) => isWithin(one.path, path) || isWithin(path, one.path))))
    return 'repositories that come or go inside or around others are restored by the scripts';
  return undefined;
};

/**
 * Whether this report says that a repository which comes is not parked in the sandbox, or not whole. Nothing was changed then:
 * the scripts make it from its bundles.
 */
export const isToBeMade = (request: RestoreRequest, { outcome, problems }: RestoreReport): boolean => {
  const coming = new Set(request.repositories.filter((one) => comes(one)).map(({ path }) => path));
  return (
    (outcome === 'refused' || outcome === 'reverted') &&
    problems.some(({ path, kind }) => kind === 'missing-objects' && coming.has(path))
  );
};

const stays = ({ target, now, undo }: RestoreRepository): boolean =>
  target !== null && now !== null && undo !== null;

const leaves = ({ target, now, undo }: RestoreRepository): boolean =>
  target === null && now !== null && undo !== null;

const comes = ({ target, now, undo }: RestoreRepository): boolean =>
  target !== null && now === null && undo === null;

/** It is not there, and is to stay so. */
const isAbsent = ({ target, now, undo }: RestoreRepository): boolean =>
  target === null && now === null && undo === null;

const isWithin = (inner: string, outer: string): boolean =>
  inner !== outer && (outer === '.' || inner.startsWith(`${outer}/`));

/** The repositories that the program is asked about. */
const there = ({ repositories }: RestoreRequest): RestoreRepository[] =>
  repositories.filter((one) => !isAbsent(one));

const restoreCommand = (request: RestoreRequest, call: string): Command => ({
  kind: 'restore',
  sessionId: request.sessionId,
  call,
  maxFileBytes: request.maxFileBytes,
  maxDepth: request.maxDepth,
  lockWaitSeconds: lockWaitSeconds(request.timeoutMs),
  include: request.include,
  exclude: request.exclude,
  filesOnly: request.filesOnly,
  dryRun: request.dryRun,
  company: request.company === true,
  settle: request.settle ?? null,
  targetTag: request.targetTag === undefined ? null : refName(request.targetTag),
  repositories: there(request).map(({ path, target, now, undo, skipped = [], stash = [] }) => ({
    path,
    target,
    now,
    undo,
    skipped,
    stash,
  })),
});

type Restored = Report['repositories'][number];

const restored = (one: Restored, action: RestoredRepository['action']): RestoredRepository => ({
  path: one.path,
  action,
  written: one.written,
  deleted: one.deleted,
  ...(one.host && { host: one.host }),
  verified: one.verified ?? null,
  paths: one.paths,
});

const actionOf = (
  wanted: RestoreRepository | undefined,
  { written, deleted, host, problems }: Restored,
  outcome: RestoreReport['outcome'],
): RestoredRepository['action'] => {
  const isRefused = outcome === 'refused' && problems.length > 0;
  if (wanted?.target === null && !isRefused) return 'parked';
  if (wanted?.now === null && !isRefused) return 'created';
  return written + deleted === 0 && host === undefined ? 'unchanged' : 'restored';
};

const absent = ({ path }: RestoreRepository): RestoredRepository => ({
  path,
  action: 'parked',
  written: 0,
  deleted: 0,
  verified: null,
  paths: [],
});

const restoreReport = (
  { outcome, repositories, asides, warnings, settled }: Report,
  request: RestoreRequest,
): RestoreReport => ({
  outcome,
  repositories: [
    ...repositories.map((one, at) => restored(one, actionOf(there(request)[at], one, outcome))),
    ...request.repositories.filter((one) => isAbsent(one)).map((one) => absent(one)),
  ],
  problems: repositories.flatMap(({ path, problems }) => problems.map((one) => ({ path, ...one }))),
  warnings: [
    ...warnings,
    ...repositories.flatMap((one) => one.warnings.map((text) => `${one.path}: ${text}`)),
  ],
  asides,
  ...(settled && { settled }),
  roundTrips: 1,
});

/**
 * Restores every repository of the request, all or none, in one round trip. The request must be one that the native
 * program restores (`notNative`). Throws `SandboxUnavailable` (retryable: the same call again goes on),
 * `SandboxUnsupported`, or what the sandbox adapter throws.
 */
export const createNativeRestore =
  (program: SandboxProgram): Repositories['restore'] =>
  async (sandbox, request) => {
    const why = notNative(request);
    if (why !== undefined) throw new Error(why);
    const command = restoreCommand(request, randomBytes(9).toString('hex'));
    const { projectsRoot, timeoutMs } = request;
    return restoreReport(
      await program.call(sandbox, command, SANDBOX_REPORTS.restore, { projectsRoot, timeoutMs }),
      request,
    );
  };
