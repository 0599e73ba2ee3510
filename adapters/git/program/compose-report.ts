/** The request of a composition, and the meaning of its report. Pure. */
import type * as z from 'zod';
import { CONFLICT_KINDS, type Conflict } from '../../../contract/rollback-answers.ts';
import type { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { SandboxCommand } from '../../../contract/sandbox/requests.ts';
import type { CaptureOutline } from '../../../core/checkpoint/ports/capture.ts';
import type {
  ComposeReport,
  ComposeRepository,
  ComposeRequest,
} from '../../../core/checkpoint/ports/compose.ts';
import { shortened } from '../../../core/shared/bounded.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import type { IncomingBundle } from '../join-links.ts';
import { lockWaitSeconds } from '../lock-wait.ts';
import { refName } from '../ref-name.ts';
import { below, capturedRepository, carryLimits, knownRepository } from './capture-report.ts';

type Report = z.infer<(typeof SANDBOX_REPORTS)['compose']>;
type Command = Extract<SandboxCommand, { kind: 'compose' }>;

/** A request with its bundles as they lie in the sandbox. */
export type IncomingCompose = Omit<ComposeRequest, 'repositories'> & {
  repositories: readonly (Omit<ComposeRepository, 'bundles'> & { bundles: readonly IncomingBundle[] })[];
};

export const composeCommand = (request: IncomingCompose, call: string, outputBytes: number): Command => ({
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

export const composeOutline = ({ repositories }: Report): CaptureOutline => ({
  repositories: repositories.map((one) => capturedRepository(one)),
  failures: repositories.flatMap(({ path, failures }) =>
    failures.map((one) => ({ ...one, path: below(path, one.path) })),
  ),
  skipped: [],
  late: [],
});

/**
 * An unknown kind is not guessed: with markers, the conflict would be written into the files as a conflict of
 * another kind.
 */
const kindOf = (said: string, place: string): Conflict['kind'] => {
  const known = CONFLICT_KINDS.find((kind) => kind === said);
  if (known !== undefined) return known;
  throw new WalkbackError(
    'CaptureFailed',
    `The sandbox names a conflict in ${shortened(place)} whose kind is not known ("${shortened(said)}"). Nothing was changed. Is its git newer than this release? Then merge the other paths, and this one by hand.`,
    { details: { path: place } },
  );
};

/** A conflict as the sandbox names it. */
const conflictOf = (
  repository: string,
  { path, kind, message }: { path: string; kind: string; message: string },
): Conflict => ({ repository, path, kind: kindOf(kind, below(repository, path)), message });

/** What a composition reports beyond a capture. */
export const composeFindings = ({
  repositories,
}: Pick<Report, 'repositories'>): Omit<ComposeReport, keyof CaptureOutline | 'bundles' | 'roundTrips'> => {
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
