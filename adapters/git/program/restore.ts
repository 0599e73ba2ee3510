/** Restores with the native program: repositories that are there, and that the target has as well. */
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
  const { repositories, settle, fresh, company } = request;
  if (settle !== undefined) return 'a rollback that broke off is settled by the scripts';
  if (fresh === true) return 'a fresh sandbox is filled by the scripts';
  if (company === true) return 'beside processes that go on writing, the scripts restore';
  if (repositories.some(({ bundles }) => bundles.length > 0)) return 'bundles are brought in by the scripts';
  if (repositories.some((one) => stays(one) === undefined))
    return 'repositories that come or go are restored by the scripts';
  return undefined;
};

type Staying = Pick<Command['repositories'][number], 'target' | 'now' | 'undo'>;

const stays = ({ target, now, undo }: RestoreRepository): Staying | undefined =>
  target === null || now === null || undo === null ? undefined : { target, now, undo };

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
  targetTag: request.targetTag === undefined ? null : refName(request.targetTag),
  repositories: request.repositories.flatMap((one) => {
    const states = stays(one);
    const { path, skipped = [], stash = [] } = one;
    return states === undefined ? [] : [{ path, ...states, skipped, stash }];
  }),
});

const restored = ({
  path,
  written,
  deleted,
  host,
  verified,
  paths,
}: Report['repositories'][number]): RestoredRepository => ({
  path,
  action: written + deleted === 0 && host === undefined ? 'unchanged' : 'restored',
  written,
  deleted,
  ...(host && { host }),
  verified: verified ?? null,
  paths,
});

const restoreReport = ({ outcome, repositories, asides, warnings }: Report): RestoreReport => ({
  outcome,
  repositories: repositories.map((one) => restored(one)),
  problems: repositories.flatMap(({ path, problems }) => problems.map((one) => ({ path, ...one }))),
  warnings: [
    ...warnings,
    ...repositories.flatMap((one) => one.warnings.map((text) => `${one.path}: ${text}`)),
  ],
  asides,
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
    );
  };
