/**
 * Composes a state that no sandbox was ever in from the state of now and other checkpoints, and stores it
 * like a capture (W4). None of the user's files are written. With conflicts, nothing is made (W3).
 */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { type CaptureDeps, createTakeIn } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { notCaptured } from '../capture/capture-report.ts';
import { knownFrom } from '../capture/chain.ts';
import { BUNDLE_LIMITS } from '../capture/limits.ts';
import type {
  CapturedRepositoryState,
  Checkpoint,
  CheckpointContent,
  ComposedFacts,
  Composition,
  RepositoryState,
  Session,
} from '../model.ts';
import type { ComposeReport, ComposeRepository } from '../ports/compose.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { baseOwnerOf } from '../session/keys.ts';
import { isAlive, keepChain } from '../session/retention.ts';
import { createComposeBundles } from './compose-bundles.ts';
import { requireNoConflicts } from './conflicts.ts';
import { type Decision, decideRepositories } from './decide.ts';
import { requireUnchanged } from './expect-unchanged.ts';
import { insideOthers } from './inside.ts';
import type { SelectedPaths } from './select-paths.ts';
import { createCompositionSteps } from './steps.ts';

export interface ComposeInput {
  session: Session;
  sandbox: ExecutionAdapter;
  composition: Composition;
  /** The states of the capture of now. */
  now: Pick<Checkpoint, 'repositories' | 'toolExecutionId'>;
  /**
   * Paths that are only directories in `now`: no repository is there yet, and an earlier composed state
   * brings one.
   */
  entered?: readonly string[];
  toolExecutionId: string;
  messageId: string | null;
  /** False for a plan: nothing is stored. */
  isStored: boolean;
}

export interface Composed extends ComposedFacts {
  repositories: RepositoryState[];
  /** What the composition changes, for people to read. */
  content?: CheckpointContent | undefined;
}

const LABELS = { ours: 'now', theirs: 'change' };

const idle = (state: RepositoryState): RepositoryState => ({ ...state, changed: false, bundleBytes: 0 });

/**
 * `selected`: a repository that is asked for as a whole is known, even if the repository around it has
 * nothing at that path.
 */
const requireUsable = (
  { unknownPaths: unknown, unsupported, failures }: ComposeReport,
  selected: SelectedPaths | undefined,
): void => {
  const unknownPaths = unknown.filter((path) => selected?.get(path) !== 'whole');
  if (unsupported.length > 0) {
    throw new WalkbackError(
      'SandboxUnsupported',
      `The git of the sandbox is older than 2.38 and cannot merge ${unsupported.join(', ')}. Use a template with a newer git.`,
    );
  }
  if (failures.length > 0) {
    const reasons = failures.slice(0, 5).map(({ path, reason }) => `${path}: ${reason}`);
    throw new WalkbackError(
      'CaptureFailed',
      `The states could not be merged. ${reasons.join('; ')}. Nothing was changed.`,
    );
  }
  if (unknownPaths.length === 0) return;
  throw new WalkbackError(
    'InvalidInput',
    `paths: neither now nor then is there anything at ${unknownPaths.slice(0, 10).join(', ')}.`,
    { details: { fields: ['paths'], unknownPaths } },
  );
};

/** HEAD and branch, for people to read, from the side that gave them. */
const withHost = (state: RepositoryState, from: CapturedRepositoryState | undefined): RepositoryState =>
  from === undefined
    ? state
    : {
        ...state,
        branch: from.branch,
        head: from.head,
        shallow: from.shallow,
        partial: from.partial,
        objectFormat: from.objectFormat,
      };

export const createCompose = (deps: CaptureDeps) => {
  const { store, repositories, clock } = deps;
  const takeIn = createTakeIn(deps);
  const stepsOf = createCompositionSteps(deps);
  const bundlesFor = createComposeBundles(deps);

  const ownBases = async (session: Session, states: readonly RepositoryState[]): Promise<string[]> => {
    const names = [...new Set(states.flatMap(({ base }) => base ?? []))];
    const bases = await Promise.all(names.map((name) => store.getBase(name, baseOwnerOf(session))));
    return bases.flatMap((base) => (base !== undefined && isAlive(base, clock) ? [base.name] : []));
  };

  /** What the sandbox is asked to compose. A repository whose state this session already stores needs nothing. */
  const asked = (
    decisions: readonly Decision[],
    named: SelectedPaths | undefined,
    now: readonly RepositoryState[],
    inside: ReturnType<typeof insideOthers>,
    entered: readonly string[],
    isForeign: (state: RepositoryState) => boolean,
  ) =>
    decisions.flatMap((one): Omit<ComposeRepository, 'bundles'>[] => {
      const isNew = one.action === 'take' && isForeign(one.state);
      const inner = inside.get(one.path);
      // It stays as it is, but another repository is placed inside it.
      const isAround = one.action === 'keep' && inner?.some(({ side }) => side === 'change') === true;
      const names = one.action === 'keep' ? named?.get(one.path) : undefined;
      // It stays as it is, but only the sandbox can tell whether it has the named paths.
      const isNamed = names !== undefined && names !== 'whole';
      if (one.action !== 'merge' && !isNew && !isAround && !isNamed) return [];
      const state = isNew ? one.state : now.find(({ path }) => path === one.path);
      const known = state && knownFrom(state, deps.limits);
      if (known === undefined) return [];
      return [
        {
          known: isNew ? { ...known, next: 'rebase' } : known,
          ...(isNew && { isNew }),
          ...(entered.includes(one.path) && { isEntered: true }),
          objectFormat: state?.objectFormat ?? 'sha1',
          ...(state?.partial === true && { partial: true }),
          ...(inner !== undefined && { inside: inner }),
          steps: one.action === 'merge' ? one.steps : [],
          ...(one.action === 'merge' && one.paths !== undefined && { paths: one.paths }),
          ...(isNamed && { paths: names }),
        },
      ];
    });

  return async (input: ComposeInput, invocation: Invocation): Promise<Composed> => {
    const { session, sandbox, composition, entered = [] } = input;
    const now = {
      ...input.now,
      repositories: input.now.repositories.filter(({ path }) => !entered.includes(path)),
    };
    const { steps, selected, foreign, warnings } = await stepsOf(session, composition, now.repositories);
    if (composition.kind === 'merge' && composition.expectUnchanged === true) {
      requireUnchanged(session.sessionId, now.repositories, steps[0]?.base ?? []);
    }
    const { decisions, conflicts } = decideRepositories(now.repositories, steps, {
      selected,
      isOwn: (state) => !foreign.has(state),
    });
    const markers = composition.kind === 'merge' && composition.markers;
    const refusesMarkers = composition.kind === 'merge' && !markers && composition.allowMarkers !== true;
    // A path that is asked for by name comes as it was, whatever is there now.
    const inside =
      composition.kind === 'paths' ? new Map() : insideOthers(decisions, now.repositories, steps);
    const named = composition.kind === 'paths' ? selected : undefined;
    const wanted = asked(decisions, named, now.repositories, inside, entered, (state) => foreign.has(state));
    const told = now.repositories.filter(({ path }) =>
      wanted.some(({ known, isNew }) => known.path === path && isNew !== true),
    );

    const gone = decisions.flatMap((one) => {
      const isThere = now.repositories.some(({ path, state }) => path === one.path && state === 'captured');
      if (one.action !== 'leave' || !isThere) return [];
      return [{ path: one.path, ...(one.tag !== undefined && { tag: one.tag }) }];
    });

    const run = async (upload: Parameters<typeof repositories.compose>[2]): Promise<ComposeReport> => {
      const ask = async (missing: readonly string[]): Promise<ComposeReport> => {
        const [brought, knownBases] = await Promise.all([
          bundlesFor(session.sessionId, foreign, wanted, decisions, missing),
          ownBases(session, [
            ...told,
            ...decisions.flatMap((one) => (one.action === 'take' ? one.state : [])),
          ]),
        ]);
        return repositories.compose(
          sandbox,
          {
            sessionId: session.sessionId,
            projectsRoot: session.projectsRoot,
            toolExecutionId: input.toolExecutionId,
            messageId: input.messageId,
            reason: composition.kind,
            include: session.include,
            knownBases,
            maxInlineBytes: (deps.limits ?? BUNDLE_LIMITS).carriedBytes,
            timeoutMs: commandTimeout(invocation, clock),
            repositories: brought,
            nowTag: now.toolExecutionId,
            gone,
            markers,
            refusesMarkers,
            labels: LABELS,
            isExported: input.isStored && (conflicts.length === 0 || markers),
          },
          upload,
        );
      };
      const first = await ask([]);
      return first.missing.length === 0 ? first : ask(first.missing);
    };

    const nothing: { captured: Pick<Captured, 'repositories' | 'content'>; report?: ComposeReport } = {
      captured: { repositories: [] },
    };
    const plan = async (): Promise<typeof nothing> => {
      const report = await run(async () => null);
      const states = report.repositories.map((one): RepositoryState => {
        const before = now.repositories.find(({ path }) => path === one.path);
        if (one.state !== 'captured') return notCaptured(one.path, one.state, before);
        const { path, commit, tree, meta, changed } = one;
        return {
          path,
          state: 'captured',
          commit,
          tree,
          meta,
          changed,
          bundleBytes: 0,
          objectFormat: before?.objectFormat,
          branch: before?.branch,
          head: before?.head,
        };
      });
      return { captured: { repositories: states }, report };
    };
    const { captured, report } =
      wanted.length === 0 && gone.length === 0
        ? nothing
        : await (input.isStored
            ? takeIn({ session, sandbox, head: { repositories: told } }, async (upload) => {
                const answer = await run(upload);
                requireUsable(answer, selected);
                // Nothing with conflicts is stored.
                requireNoConflicts({ conflicts: [...conflicts, ...answer.conflicts] }, composition);
                return answer;
              })
            : plan());
    if (report !== undefined) requireUsable(report, selected);
    const found: Conflict[] = [...conflicts, ...(report?.conflicts ?? [])];
    const isMade = found.length === 0 || markers;
    const made = new Map(captured.repositories.map((state) => [state.path, state]));
    const states: RepositoryState[] = [];
    for (const one of isMade ? decisions : []) {
      const before = now.repositories.find(({ path }) => path === one.path);
      const state = made.get(one.path);
      if (one.action === 'leave') states.push(notCaptured(one.path, 'absent', before));
      else if (one.action === 'keep') states.push(...(before === undefined ? [] : [idle(before)]));
      else if (one.action === 'take') {
        states.push(
          state === undefined
            ? idle(await keepChain(store, session, one.state, clock))
            : withHost(state, one.state),
        );
      } else if (state !== undefined) {
        const isTaken = report?.hostTaken.includes(one.path) === true;
        states.push(withHost(state, isTaken ? one.states.at(-1)?.theirs : undefined));
      }
    }
    // A repository that conflicts as a whole stays as it is now.
    for (const { repository } of isMade ? conflicts : []) {
      states.push(...now.repositories.filter(({ path }) => path === repository).map(idle));
    }
    const kept = (report?.hostKept ?? []).map(
      (path) =>
        `${path}: HEAD, branches and index changed on both sides, or the history of a shallow clone ends elsewhere in them, so they stay; the files come as uncommitted work`,
    );
    return {
      repositories: states.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      content: captured.content,
      conflicts: found,
      warnings: [...warnings, ...kept, ...(report?.warnings ?? [])],
    };
  };
};
