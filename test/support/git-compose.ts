/** What the function does around the compose command, for a git harness: decides about repositories, asks, brings what is missing. */
import type { SandboxProgram } from '../../adapters/git/program/call.ts';
import { createRepositories } from '../../adapters/git/repositories.ts';
import type { Conflict } from '../../contract/rollback-answers.ts';
import { decideRepositories } from '../../core/checkpoint/compose/decide.ts';
import { insideOthers } from '../../core/checkpoint/compose/inside.ts';
import type { CapturedRepositoryState, RepositoryState } from '../../core/checkpoint/model.ts';
import type { CapturedRepository } from '../../core/checkpoint/ports/capture.ts';
import type { ComposeReport } from '../../core/checkpoint/ports/compose.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import type { Snapshot } from './git-snapshot.ts';

export interface ComposeFlags {
  paths?: Record<string, string[] | 'whole'>;
  markers?: boolean;
  plan?: boolean;
  /** Brings every bundle at once, not only when the sandbox asks for them. */
  bring?: boolean;
  /** Asks once, whatever the sandbox lacks. */
  once?: boolean;
  /** The states come from this session, as for a revert: what is taken whole is not stored again. */
  own?: boolean;
  /** Marks of conflicts that a side brings are conflicts. */
  refusesMarkers?: boolean;
  /** How links join what is stored. Default: append. */
  next?: 'append' | 'restart' | 'rebase';
  /** Bases that the store has. */
  knownBases?: string[];
  maxInlineBytes?: number;
}

const stateOf = (one: CapturedRepository): RepositoryState =>
  one.state === 'captured'
    ? {
        path: one.path,
        state: 'captured',
        changed: false,
        bundleBytes: 0,
        commit: one.commit,
        tree: one.tree,
        meta: one.meta,
      }
    : { path: one.path, state: one.state, changed: false, bundleBytes: 0 };

const kindOf = ({ own, paths }: ComposeFlags): string => {
  if (own !== true) return 'merge';
  return paths === undefined ? 'revert' : 'paths';
};

const found = (snapshot: Snapshot, path: string) => {
  const one = snapshot.repositories.find((other) => other.path === path);
  return one?.state === 'captured' ? one : undefined;
};

export interface ComposedSnapshot {
  report: ComposeReport & { conflicts: Conflict[] };
  merged: Snapshot;
}

export const composeSnapshot = async (
  about: {
    sandbox: ExecutionAdapter;
    program: SandboxProgram;
    projectsRoot: string;
    sessionId: string;
    timeoutMs: number;
    tag: string;
    include: string[];
  },
  now: Snapshot,
  steps: { base: Snapshot; theirs: Snapshot }[],
  flags: ComposeFlags,
): Promise<ComposedSnapshot> => {
  const { tag, program, ...common } = about;
  const origin = new Map<RepositoryState, { one: CapturedRepository; snapshot: Snapshot }>();
  const statesOf = (snapshot: Snapshot): RepositoryState[] =>
    snapshot.repositories.map((one) => {
      const state = stateOf(one);
      origin.set(state, { one, snapshot });
      return state;
    });
  const present = statesOf(now);
  const changes = steps.map(({ base, theirs }) => ({
    base: statesOf(base),
    theirs: statesOf(theirs),
    ...(flags.own === true && { tag: theirs.tag }),
  }));
  const decided = decideRepositories(present, changes, {
    selected: flags.paths === undefined ? undefined : new Map(Object.entries(flags.paths)),
    isOwn: () => flags.own === true,
  });
  const { decisions } = decided;
  const inside = flags.paths === undefined ? insideOthers(decisions, present, changes) : undefined;
  const bundlesOf = (path: string, states: readonly RepositoryState[]) => [
    ...new Map(
      states
        .flatMap((state) => origin.get(state)?.snapshot.chains.get(path) ?? [])
        .map((bundle) => [bundle.sha256, bundle]),
    ).values(),
  ];
  const asked = (missing: (path: string) => boolean) =>
    decisions.flatMap((one) => {
      const isNew = one.action === 'take' && flags.own !== true;
      const inner = inside?.get(one.path);
      const isAround = one.action === 'keep' && inner?.some(({ side }) => side === 'change') === true;
      if (one.action !== 'merge' && !isNew && !isAround) return [];
      const there: CapturedRepositoryState[] =
        one.action === 'merge'
          ? one.states.flatMap(({ base, theirs }) => [base, theirs])
          : one.action === 'take'
            ? [one.state]
            : [];
      const from = one.action === 'take' ? origin.get(one.state)?.one : found(now, one.path);
      if (from?.state !== 'captured') return [];
      const { path, commit, tree, meta, base, baseCommit } = from;
      const next = isNew ? ('rebase' as const) : (flags.next ?? 'append');
      return [
        {
          known: { path, commit, tree, meta, base, baseCommit, next },
          ...(isNew && { isNew }),
          objectFormat: from.info?.objectFormat ?? ('sha1' as const),
          partial: from.info?.partial,
          ...(inner !== undefined && { inside: inner }),
          steps: one.action === 'merge' ? one.steps : [],
          ...(one.action === 'merge' && one.paths !== undefined && { paths: one.paths }),
          bundles: isNew || missing(path) ? bundlesOf(path, there) : [],
        },
      ];
    });
  const ask = (missing: (path: string) => boolean) =>
    createRepositories(program).compose(
      about.sandbox,
      {
        ...common,
        toolExecutionId: tag,
        messageId: null,
        reason: kindOf(flags),
        knownBases: flags.knownBases ?? [],
        maxInlineBytes: flags.maxInlineBytes ?? 8 * 1024 * 1024,
        nowTag: now.tag,
        gone: decisions.flatMap(({ path, action, ...one }) =>
          action === 'leave' && found(now, path) !== undefined ? [{ path, ...one }] : [],
        ),
        repositories: asked(missing),
        markers: flags.markers ?? false,
        refusesMarkers: flags.refusesMarkers ?? false,
        labels: { ours: 'target', theirs: 'fork' },
        isExported: flags.plan !== true && decided.conflicts.length === 0,
      },
      async () => null,
    );
  const first = await ask(() => flags.bring === true);
  const report =
    first.missing.length === 0 || flags.once === true
      ? first
      : await ask((path) => first.missing.includes(path));

  const chains = new Map(now.chains);
  const repositories = decisions.flatMap((one): CapturedRepository[] => {
    const before = now.repositories.find(({ path }) => path === one.path);
    const made = report.repositories.find(({ path }) => path === one.path);
    const bundles = report.bundles.filter(({ repositoryPath }) => repositoryPath === one.path);
    if (one.action === 'leave') return [];
    if (one.action === 'keep') return before === undefined ? [] : [before];
    if (one.action === 'take') {
      const from = origin.get(one.state);
      if (from === undefined) return [];
      if (made?.state === 'captured' && from.one.state === 'captured') {
        chains.set(one.path, bundles);
        return [{ ...from.one, ...made, info: from.one.info }];
      }
      chains.set(one.path, from.snapshot.chains.get(one.path) ?? []);
      return [from.one];
    }
    if (made?.state !== 'captured' || before?.state !== 'captured')
      return before === undefined ? [] : [before];
    chains.set(one.path, [...(chains.get(one.path) ?? []), ...bundles]);
    return [{ ...before, ...made, info: before.info }];
  });
  return {
    report: { ...report, conflicts: [...decided.conflicts, ...report.conflicts] },
    merged: { repositories, report: now.report, tag, chains },
  };
};
