/** The compose command: its input values, and what its output says beyond that of a capture. Pure. */
import { CONFLICT_KINDS, type Conflict } from '../../contract/rollback-answers.ts';
import type {
  ComposeReport,
  ComposeRepository,
  ComposeRequest,
} from '../../core/checkpoint/ports/compose.ts';
import { shortened } from '../../core/shared/bounded.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { knownValues, refName } from './capture-command.ts';
import { CHANGES_LIMITS } from './changes-output.ts';
import type { IncomingBundle } from './join-links.ts';
import { all, type Pair, reasonIn, records, value, warningsOf } from './output.ts';
import { bundleNames } from './restore-command.ts';
import { buildScript, type Script, spillFor } from './script.ts';
import { lockWaitSeconds } from './script-deadline.ts';

/** A request with its bundles as they lie in the sandbox. */
export type IncomingCompose = Omit<ComposeRequest, 'repositories'> & {
  repositories: readonly (Omit<ComposeRepository, 'bundles'> & { bundles: readonly IncomingBundle[] })[];
};

/** Seconds the command waits to be told where large bundles go. */
const UPLOAD_WAIT_SECONDS = 60;

export const composeScript = (
  request: IncomingCompose,
  call: string,
  mark: string,
  outputBytes: number,
): Script => {
  const { repositories } = request;
  const known = repositories.map((one) => one.known);
  const steps = repositories.flatMap((one, index) => one.steps.map((step) => ({ index, ...step })));
  return buildScript(
    'compose',
    {
      SESSION: request.sessionId,
      CALL: call,
      TAG: refName(request.toolExecutionId),
      MESSAGE: request.messageId ?? '-',
      REASON: request.reason,
      INCLUDE: request.include,
      LOCK_WAIT: lockWaitSeconds(request.timeoutMs),
      CARRY_TOTAL: outputBytes,
      CARRY_MOST: request.maxInlineBytes,
      UPLOAD_WAIT: UPLOAD_WAIT_SECONDS,
      CHANGES: request.isExported ? 1 : '',
      CHANGES_EACH: CHANGES_LIMITS.each,
      CHANGES_MOST: CHANGES_LIMITS.all,
      EXPORT: request.isExported ? 1 : 0,
      MARKERS: request.markers ? 1 : 0,
      NO_MARKERS: request.refusesMarkers ? 1 : '',
      LABEL_OURS: refName(request.labels.ours),
      LABEL_THEIRS: refName(request.labels.theirs),
      ...knownValues(known),
      KNOWN_BASES: request.knownBases,
      NOW_TAG: refName(request.nowTag),
      GONE_PATH: request.gone.map((one) => one.path),
      GONE_TAG: request.gone.map((one) => (one.tag === undefined ? '' : refName(one.tag))),
      C_FORMAT: repositories.map((one) => one.objectFormat),
      C_PARTIAL: repositories.map((one) => (one.partial === true ? '1' : '')),
      C_NEW: repositories.map((one) => (one.isNew === true ? '1' : '')),
      C_BUNDLES: repositories.map((one) => bundleNames(one.bundles)),
      C_PATHS: repositories.flatMap((one, index) => (one.paths ?? []).map((path) => `${index}:${path}`)),
      C_AROUND: repositories.map((one) => aroundOf(repositories, one)),
      C_INSIDE: repositories.flatMap((one, index) =>
        (one.inside ?? []).map(({ path, side }) => `${index}:${side}:${path}`),
      ),
      S_REPO: steps.map((one) => String(one.index)),
      S_BASE_TREE: steps.map((one) => one.base.tree),
      S_BASE_META: steps.map((one) => one.base.meta),
      S_THEIRS_TREE: steps.map((one) => one.theirs.tree),
      S_THEIRS_META: steps.map((one) => one.theirs.meta),
    },
    {
      mark,
      timeoutMs: request.timeoutMs,
      spill: spillFor(request.projectsRoot, request.sessionId, call),
    },
  );
};

/** The number of the innermost repository around a new one; `-`: what is in its place is not looked at. */
const aroundOf = (
  all: IncomingCompose['repositories'],
  one: IncomingCompose['repositories'][number],
): string => {
  if (one.isNew !== true || one.isEntered === true) return '-';
  const { path } = one.known;
  const around = all
    .map(({ known, isNew }, index) => ({ path: known.path, index, isNew }))
    .filter((other) => other.isNew !== true && (other.path === '.' || path.startsWith(`${other.path}/`)))
    .toSorted((a, b) => Number(a.path === '.') - Number(b.path === '.') || b.path.length - a.path.length)[0];
  return around === undefined ? '' : String(around.index);
};

const below = (repository: string, path: string): string =>
  repository === '.' ? path : `${repository}/${path}`;

/** Paths of the repositories with this mark. */
const marked = (repositories: readonly (readonly Pair[])[], key: string): string[] =>
  repositories.flatMap((record) => (value(record, key) === '1' ? (value(record, 'repo') ?? '.') : []));

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
export const conflictOf = (
  repository: string,
  { path, kind, message }: { path: string; kind: string; message: string },
): Conflict => ({ repository, path, kind: kindOf(kind, below(repository, path)), message });

const conflictIn = (repository: string, entry: readonly Pair[]): Conflict =>
  conflictOf(repository, {
    path: value(entry, 'conflict-path') ?? '.',
    kind: value(entry, 'conflict-kind') ?? '',
    message: reasonIn(entry, 'conflict-message'),
  });

/** Reads what a composition reports beyond a capture. */
export const composeFindings = (
  pairs: readonly Pair[],
): Pick<
  ComposeReport,
  'conflicts' | 'unknownPaths' | 'missing' | 'unsupported' | 'hostKept' | 'hostTaken' | 'warnings'
> => {
  const repositories = records(pairs, 'repo');
  return {
    conflicts: repositories.flatMap((record) =>
      records(record, 'conflict-path').map((entry) => conflictIn(value(record, 'repo') ?? '.', entry)),
    ),
    unknownPaths: repositories.flatMap((record) =>
      all(record, 'unknown-path').map((path) => below(value(record, 'repo') ?? '.', path)),
    ),
    missing: marked(repositories, 'missing-target'),
    unsupported: marked(repositories, 'unsupported'),
    hostKept: marked(repositories, 'host-kept'),
    hostTaken: marked(repositories, 'host-taken'),
    warnings: warningsOf(repositories),
  };
};
