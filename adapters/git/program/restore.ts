/** Carries bundles into the sandbox where they are needed, and restores. */
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
import { type IncomingRequest, incomingFiles, rootMaker } from '../incoming-files.ts';
import { joinLinks, type LinkLimits } from '../join-links.ts';
import { lockWaitSeconds } from '../lock-wait.ts';
import { refName } from '../ref-name.ts';
import { releasingAfterFailure } from '../release.ts';
import { carryingWithoutCurl } from './bring-in.ts';
import type { SandboxProgram } from './call.ts';
import { listening } from './progress.ts';

type Command = Extract<SandboxCommand, { kind: 'restore' }>;
type Report = z.infer<(typeof SANDBOX_REPORTS)['restore']>;

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
  allowConcurrentWriters: request.allowConcurrentWriters === true,
  settle: request.settle ?? false,
  fresh: request.fresh === true,
  targetTag: request.targetTag === undefined ? null : refName(request.targetTag),
  repositories: request.repositories.map(
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

/** The state that a repository went to. */
const goalOf = ({ target, undo, now }: RestoreRepository, settled: Report['settled']) =>
  settled === undefined ? target : settled.reached > 0 ? undo : now;

const actionOf = (
  wanted: RestoreRepository | undefined,
  { written, deleted, host, problems }: Restored,
  { outcome, settled }: Pick<Report, 'outcome' | 'settled'>,
): RestoredRepository['action'] => {
  const isRefused = outcome === 'refused' && problems.length > 0;
  if (wanted !== undefined && goalOf(wanted, settled) === null && !isRefused) return 'parked';
  if (wanted?.now === null && !isRefused) return 'created';
  return written + deleted === 0 && host === undefined ? 'unchanged' : 'restored';
};

const restoreReport = (
  { outcome, repositories, asides, warnings, settled }: Report,
  request: RestoreRequest,
  roundTrips: number,
): RestoreReport => ({
  outcome,
  repositories: repositories.map((one, at) =>
    restored(one, actionOf(request.repositories[at], one, { outcome, settled })),
  ),
  problems: repositories.flatMap(({ path, problems }) =>
    problems.map(({ kind, message }) => ({
      path,
      kind,
      message: message.trim() || 'the sandbox gave no reason',
    })),
  ),
  warnings: [
    ...warnings,
    ...repositories.flatMap((one) => one.warnings.map((text) => `${one.path}: ${text}`)),
  ],
  asides,
  ...(settled && { settled }),
  roundTrips,
});

const newCall = (): string => randomBytes(9).toString('hex');

export const createRestore = (
  program: SandboxProgram,
  limits: LinkLimits,
): Pick<Repositories, 'carry' | 'restore'> => ({
  async carry(sandbox, request) {
    const call = newCall();
    const bundles = request.chains.flatMap((chain) => joinLinks(chain, limits));
    await sandbox.writeFiles(incomingFiles(incomingDirectory(request, call), bundles));
    return call;
  },

  /**
   * Restores every repository of the request, all or none. One round trip; two when bundles are brought in, or there is no
   * repository. Throws `SandboxUnavailable` (retryable: the same call again goes on), `SandboxUnsupported`, `BundleCorrupt`,
   * or what the sandbox adapter throws.
   */
  async restore(sandbox, asked, hooks = {}) {
    const request = {
      ...asked,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const call = asked.carried ?? newCall();
    const bundles = request.repositories.flatMap((one) => one.bundles);
    const directory = incomingDirectory(asked, call);
    const brought = asked.carried === undefined ? incomingFiles(directory, bundles) : [];
    const files = [...brought, ...rootMaker(directory, asked)];
    if (files.length > 0) await sandbox.writeFiles(files);
    const { projectsRoot, timeoutMs } = asked;
    return releasingAfterFailure(sandbox, { ...asked, held: call }, async () => {
      const command = restoreCommand(request, call);
      const where = { projectsRoot, timeoutMs, ...listening(hooks) };
      const run = () => program.call(sandbox, command, SANDBOX_REPORTS.restore, where);
      const report = await carryingWithoutCurl(sandbox, directory, bundles, run, hooks);
      return restoreReport(report, asked, files.length > 0 ? 2 : 1);
    });
  },
});
