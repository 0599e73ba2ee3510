/** The commands in the sandbox by themselves, as the functions would run them, without cloud and store in between. */
import { createRepositories } from '../adapters/git/repositories.ts';
import type { CapturedRepository, CaptureReport } from '../core/checkpoint/ports/capture.ts';
import type { ComposeReport } from '../core/checkpoint/ports/compose.ts';
import type { RestoreReport } from '../core/checkpoint/ports/restore.ts';
import { programHere } from '../test/support/sandbox-program.ts';
import { createProcessSandbox } from './processes.ts';

const COMMON = {
  sessionId: 'bench',
  include: [],
  exclude: [],
  maxFileBytes: 256 * 1024 * 1024,
  maxDepth: 3,
  timeoutMs: 300_000,
  maxInlineBytes: 8 * 1024 * 1024,
};

const knownFrom = ({ path, commit, tree, meta, base, baseCommit }: CapturedRepository) =>
  commit === undefined || tree === undefined || meta === undefined
    ? []
    : [{ path, commit, tree, meta, base, baseCommit, next: 'append' as const }];

const stateOf = (report: CaptureReport, path: string) => {
  const found = report.repositories.find((one) => one.path === path);
  return found?.tree === undefined || found.meta === undefined
    ? null
    : { tree: found.tree, meta: found.meta };
};

const stepOf = (base: ReturnType<typeof stateOf>, theirs: ReturnType<typeof stateOf>) =>
  base === null || theirs === null ? [] : [{ base, theirs }];

export interface DirectSession {
  capture(target?: CaptureReport): Promise<CaptureReport>;
  /** Captures now and restores, as a rollback does. */
  rollback(target: CaptureReport): Promise<RestoreReport>;
  /** Composes the last capture with what happened in another sandbox between two captures, whose bundles of the later one are brought. */
  compose(base: CaptureReport, theirs: CaptureReport): Promise<ComposeReport>;
}

/** A session on the repositories below `projectsRoot`; every call builds on the one before. */
export const startDirectSession = (
  projectsRoot: string,
  sandbox = createProcessSandbox(),
  { changes = true } = {},
): DirectSession => {
  const repositories = createRepositories(programHere());
  let calls = 0;
  let last: CaptureReport | undefined;

  const capture: DirectSession['capture'] = async (target) => {
    calls += 1;
    const request = {
      ...COMMON,
      projectsRoot,
      toolExecutionId: `t${calls}`,
      messageId: 'm1',
      reason: 'bench',
      // As a function asks for it: a baseline has nothing to compare with.
      changes: changes && last !== undefined,
      known: (last?.repositories ?? []).flatMap(knownFrom),
      knownBases: (last?.repositories ?? []).flatMap(({ base }) => base ?? []),
      targets: target?.repositories.flatMap(({ path, commit, tree, meta }) =>
        commit === undefined || tree === undefined || meta === undefined
          ? []
          : [{ path, commit, tree, meta }],
      ),
    };
    last = await repositories.capture(sandbox, request, async () => null);
    if (last.failures.length > 0) throw new Error(`Not captured: ${JSON.stringify(last.failures)}`);
    return last;
  };

  const rollback: DirectSession['rollback'] = async (target) => {
    const now = await capture(target);
    const report = await repositories.restore(sandbox, {
      ...COMMON,
      projectsRoot,
      filesOnly: false,
      dryRun: false,
      repositories: target.repositories.map(({ path }) => ({
        path,
        target: stateOf(target, path),
        now: stateOf(now, path),
        undo: stateOf(now, path),
        bundles: [],
      })),
    });
    if (report.outcome !== 'applied') throw new Error(`Not rolled back: ${JSON.stringify(report.problems)}`);
    last = target;
    return report;
  };

  const compose: DirectSession['compose'] = async (base, theirs) => {
    calls += 1;
    const now = last ?? (await capture());
    const report = await repositories.compose(
      sandbox,
      {
        ...COMMON,
        projectsRoot,
        toolExecutionId: `t${calls}`,
        messageId: 'm1',
        reason: 'merge',
        knownBases: now.repositories.flatMap(({ base: name }) => name ?? []),
        nowTag: `t${calls - 1}`,
        gone: [],
        markers: false,
        refusesMarkers: true,
        labels: { ours: 'now', theirs: 'change' },
        isExported: true,
        repositories: now.repositories.flatMap(knownFrom).map((known) => ({
          known,
          objectFormat: 'sha1' as const,
          steps: stepOf(stateOf(base, known.path), stateOf(theirs, known.path)),
          bundles: theirs.bundles.flatMap(({ repositoryPath, kind, commit, sha256, sizeBytes, bytes }) =>
            repositoryPath === known.path && kind === 'link' && bytes !== undefined
              ? [{ kind, commit, sha256, sizeBytes, bytes }]
              : [],
          ),
        })),
      },
      async () => null,
    );
    const isWhole = report.repositories.every(({ state, changed }) => state === 'captured' && changed);
    if (!isWhole || report.conflicts.length > 0)
      throw new Error(`Not composed: ${JSON.stringify([report.failures, report.conflicts])}`);
    return report;
  };

  return { capture, rollback, compose };
};
