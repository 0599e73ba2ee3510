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
import { incomingDirectory } from '../call-folders.ts';
import { refName } from '../capture-command.ts';
import { joinLinks, LINK_LIMITS, type LinkLimits } from '../join-links.ts';
import { releasingAfterFailure } from '../release.ts';
import { incomingFiles } from '../restore.ts';
import type { IncomingRequest } from '../restore-command.ts';
import { lockWaitSeconds } from '../script-deadline.ts';
import type { SandboxProgram } from './call.ts';

type Command = Extract<SandboxCommand, { kind: 'restore' }>;
type Report = z.infer<(typeof SANDBOX_REPORTS)['restore']>;

/** What the native program does not restore yet. Undefined: it restores this request. */
export const notNative = (request: RestoreRequest): string | undefined => {
  const { repositories, settle, fresh, filesOnly } = request;
  if (fresh === true) return 'a fresh sandbox is filled by the scripts';
  if (settle !== undefined && repositories.some(({ bundles }) => bundles.length > 0))
    return 'bundles for what broke off are brought in by the scripts';
  // What settles looks by itself where each repository is now.
  const isMoving = (one: RestoreRepository): boolean =>
    settle === undefined ? !stays(one) && !isAbsent(one) : one.target === null || one.undo === null;
  const moving = repositories.filter((one) => isMoving(one));
  if (settle === undefined && moving.some((one) => !leaves(one) && !comes(one)))
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

/** Where a repository is. */
type States = Pick<RestoreRepository, 'target' | 'now' | 'undo'>;

const stays = ({ target, now, undo }: States): boolean => target !== null && now !== null && undo !== null;

const leaves = ({ target, now, undo }: States): boolean => target === null && now !== null && undo !== null;

const comes = ({ target, now, undo }: States): boolean => target !== null && now === null && undo === null;

/** It is not there, and is to stay so. */
const isAbsent = ({ target, now, undo }: States): boolean => target === null && now === null && undo === null;

const isWithin = (inner: string, outer: string): boolean =>
  inner !== outer && (outer === '.' || inner.startsWith(`${outer}/`));

/** The repositories that the program is asked about. */
const there = <One extends States>({ repositories }: { repositories: readonly One[] }): One[] =>
  repositories.filter((one) => !isAbsent(one));

const restoreCommand = (request: IncomingRequest, call: string): Command => ({
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
  company: request.allowConcurrentWriters === true,
  settle: request.settle ?? null,
  targetTag: request.targetTag === undefined ? null : refName(request.targetTag),
  repositories: there(request).map(
    ({ path, target, now, undo, skipped = [], stash = [], partial, bundles }) => ({
      path,
      target,
      now,
      undo,
      skipped,
      stash,
      isPartial: partial === true,
      bundles: bundles.map(({ how, sha256, cuts }) => ({ how, sha256, cuts: cuts?.sha256 ?? null })),
    }),
  ),
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
  roundTrips: number,
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
  roundTrips,
});

/**
 * Restores every repository of the request, all or none. One round trip; two when bundles are brought in. The request must be
 * one that the native program restores (`notNative`). Throws `SandboxUnavailable` (retryable: the same call again goes on),
 * `SandboxUnsupported`, `BundleCorrupt`, or what the sandbox adapter throws.
 */
export const createNativeRestore =
  (program: SandboxProgram, limits: LinkLimits = LINK_LIMITS): Repositories['restore'] =>
  async (sandbox, asked) => {
    const why = notNative(asked);
    if (why !== undefined) throw new Error(why);
    const request = {
      ...asked,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const call = asked.carried ?? randomBytes(9).toString('hex');
    const bundles = asked.carried === undefined ? request.repositories.flatMap((one) => one.bundles) : [];
    const files = incomingFiles(incomingDirectory(asked, call), bundles);
    if (files.length > 0) await sandbox.writeFiles(files);
    const { projectsRoot, timeoutMs } = asked;
    return releasingAfterFailure(sandbox, { ...asked, held: call }, async () => {
      const command = restoreCommand(request, call);
      const where = { projectsRoot, timeoutMs };
      const report = await program.call(sandbox, command, SANDBOX_REPORTS.restore, where);
      return restoreReport(report, asked, files.length > 0 ? 2 : 1);
    });
  };
