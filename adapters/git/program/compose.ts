/**
 * Composes with the native program: captures made from captures. The committed program does not know the command yet, so the
 * scripts compose (`adapters/git/compose.ts`), and tests compare.
 */
import {
  type ComposeCommand,
  composeReport,
  type NativeComposeReport,
} from '../../../contract/sandbox/compose.ts';
import type { CaptureOutline } from '../../../core/checkpoint/ports/capture.ts';
import type { ComposeReport } from '../../../core/checkpoint/ports/compose.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import type { CommandOptions, CommandResult, CommandRunner } from '../../../core/checkpoint/ports/sandbox.ts';
import { incomingDirectory } from '../call-folders.ts';
import { refName } from '../capture-command.ts';
import { conflictOf, type IncomingCompose } from '../compose-command.ts';
import { joinLinks, LINK_LIMITS, type LinkLimits } from '../join-links.ts';
import { incomingFiles } from '../restore.ts';
import { lockWaitSeconds } from '../script-deadline.ts';
import { below, capturedRepository, carryLimits, knownRepository } from './capture-report.ts';
import { carryOut, newCarryingCall } from './carry-out.ts';

/** A program that knows the command. */
export interface ComposingProgram {
  run(
    sandbox: CommandRunner,
    command: ComposeCommand,
    where: { projectsRoot: string; timeoutMs: number; mark: string } & Pick<
      CommandOptions,
      'onLine' | 'onErrorLine'
    >,
  ): Promise<CommandResult>;
}

const commandOf = (request: IncomingCompose, call: string, outputBytes: number): ComposeCommand => ({
  kind: 'compose',
  sessionId: request.sessionId,
  call,
  tag: refName(request.toolExecutionId),
  message: request.messageId ?? '-',
  reason: request.reason,
  lockWaitSeconds: lockWaitSeconds(request.timeoutMs),
  include: request.include,
  knownBases: request.knownBases,
  nowTag: refName(request.nowTag),
  gone: request.gone.map(({ path, tag }) => ({ path, tag: tag === undefined ? null : refName(tag) })),
  repositories: request.repositories.map((one) => ({
    known: knownRepository(one.known),
    isNew: one.isNew === true,
    isEntered: one.isEntered === true,
    objectFormat: one.objectFormat,
    isPartial: one.partial === true,
    inside: one.inside ?? [],
    steps: one.steps,
    paths: one.paths ?? [],
    bundles: one.bundles.map(({ how, sha256, cuts }) => ({ how, sha256, cuts: cuts?.sha256 ?? null })),
  })),
  refusesMarkers: request.refusesMarkers,
  markers: request.markers,
  labels: { ours: refName(request.labels.ours), theirs: refName(request.labels.theirs) },
  isExported: request.isExported,
  limits: carryLimits(request.maxInlineBytes, outputBytes),
});

const outlineOf = ({ repositories }: NativeComposeReport): CaptureOutline => ({
  repositories: repositories.map((one) => capturedRepository(one)),
  failures: repositories.flatMap(({ path, failures }) =>
    failures.map((one) => ({ ...one, path: below(path, one.path) })),
  ),
  skipped: [],
  late: [],
});

/** What a composition reports beyond a capture. */
const findingsOf = ({
  repositories,
}: NativeComposeReport): Omit<ComposeReport, keyof CaptureOutline | 'bundles' | 'roundTrips'> => {
  const marked = (mark: 'isMissing' | 'isUnsupported' | 'isHostKept' | 'isHostTaken'): string[] =>
    repositories.flatMap((one) => (one[mark] ? [one.path] : []));
  return {
    conflicts: repositories.flatMap(({ path, conflicts }) =>
      conflicts.map((one) => conflictOf(path, { ...one, message: one.message.trim() })),
    ),
    unknownPaths: repositories.flatMap(({ path, unknownPaths }) =>
      unknownPaths.map((one) => below(path, one)),
    ),
    missing: marked('isMissing'),
    unsupported: marked('isUnsupported'),
    hostKept: marked('isHostKept'),
    hostTaken: marked('isHostTaken'),
    warnings: repositories.flatMap(({ path, warnings }) => warnings.map((text) => `${path}: ${text.trim()}`)),
  };
};

/**
 * One round trip; one more when bundles are brought in, and one more when large ones come out. Throws the same errors as a
 * capture.
 */
export const createNativeCompose =
  (
    program: ComposingProgram,
    outputBytes: number,
    limits: LinkLimits = LINK_LIMITS,
  ): Repositories['compose'] =>
  async (sandbox, asked, upload) => {
    const request = {
      ...asked,
      changes: asked.isExported,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const { call, mark } = newCarryingCall();
    const bundles = request.repositories.flatMap((one) => one.bundles);
    const files = incomingFiles(incomingDirectory(request, call), bundles);
    if (files.length > 0) await sandbox.writeFiles(files);
    const command = commandOf(request, call, outputBytes);
    const { report, carried } = await carryOut(
      {
        sandbox,
        request,
        call,
        mark,
        outputBytes,
        schema: composeReport,
        outlineOf,
        start: (where) => program.run(sandbox, command, where),
      },
      upload,
      {},
    );
    return {
      ...carried,
      ...findingsOf(report),
      roundTrips: carried.roundTrips + Number(files.length > 0),
    };
  };
