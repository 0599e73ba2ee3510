/**
 * Compares two points of a timeline, repository by repository, in the sandbox that holds the captures.
 * Reads only: `now` is captured in the shadows but not stored.
 */
import type { DiffAnswer } from '../../../contract/change-answers.ts';
import type { DiffInput } from '../../../contract/checkpoint-inputs.ts';
import { RESERVED_ID_PREFIX } from '../../../contract/ids.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { RepositoryState } from '../model.ts';
import type { DiffPair, Repositories, RepositoryDiff } from '../ports/repositories.ts';
import type { ExecutionAdapter, Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { findTimeline, headSeqOf, sandboxOf, type WorkTimeline } from '../session/place.ts';
import { withSandboxAdvice } from '../session/session-rules.ts';
import { findTarget, targetNamed } from '../timeline/targets.ts';
import { createDryCapture } from './capture.ts';

interface DiffDeps {
  store: SessionStore;
  sandboxes: Sandboxes;
  repositories: Repositories;
  clock: Clock;
}

/** An answer may have 6 MB, and text grows when it becomes JSON. */
const MAX_TOTAL_BYTES = 2 * 1024 ** 2;
const LEAST_BYTES = 32 * 1024;

/** Lines around a change, as git has them. */
const CONTEXT = 3;

const DRY_CAPTURE_ID = `${RESERVED_ID_PREFIX}diff`;

type States = readonly RepositoryState[];

const treeOf = (states: States, path: string): string | null =>
  states.find((state) => state.path === path && state.state !== 'absent')?.tree ?? null;

const metaOf = (states: States, path: string): string | null =>
  states.find((state) => state.path === path && state.state === 'captured')?.meta ?? null;

/** The repositories that exist on at least one side. A session also lists repositories that went long ago. */
const pairsOf = (from: States, to: States): DiffPair[] =>
  [...new Set([...from, ...to].flatMap(({ path, state }) => (state === 'absent' ? [] : [path])))]
    .toSorted()
    .map((path) => ({
      path,
      from: treeOf(from, path),
      to: treeOf(to, path),
      fromMeta: metaOf(from, path),
      toMeta: metaOf(to, path),
    }));

const onlyPath = (pairs: readonly DiffPair[], path: string | undefined): readonly DiffPair[] => {
  if (path === undefined) return pairs;
  const chosen = pairs.filter((pair) => pair.path === path);
  if (chosen.length > 0) return chosen;
  const known = pairs.map((pair) => pair.path).slice(0, 20);
  throw new WalkbackError(
    'InvalidInput',
    `There is no repository "${path}" in either point. Repositories: ${known.join(', ') || 'none'}.`,
    { details: { path, known } },
  );
};

const staleWarnings = (point: string, states: States): string[] =>
  states
    .filter(({ state }) => state === 'failed')
    .map(({ path }) => `${path} was not captured at ${point}; its last good capture is compared instead.`);

const requireObjects = (diffs: readonly RepositoryDiff[]): void => {
  const missing = diffs.filter((diff) => diff.missing).map(({ path }) => path);
  if (missing.length === 0) return;
  throw new WalkbackError(
    'BundleMissing',
    `The sandbox does not hold both captures of ${missing.join(', ')}. Rehydrate the later point with walkback-rehydrate (walkback rehydrate --to POINT), and compare in that sandbox by its sandboxId (walkback diff --sandbox ID).`,
    { details: { repositories: missing } },
  );
};

const answerOf = (
  { path, from, to }: DiffPair,
  diff: RepositoryDiff | undefined,
): DiffAnswer['repositories'][number] => ({
  path,
  diff: diff?.diff ?? '',
  truncated: diff?.truncated ?? false,
  files: diff?.files ?? 0,
  added: diff?.added ?? 0,
  deleted: diff?.deleted ?? 0,
  ...(diff?.host && { host: diff.host }),
  ...(from !== to && from === null && { change: 'created' as const }),
  ...(from !== to && to === null && { change: 'removed' as const }),
});

export const createDiff = (deps: DiffDeps) => {
  const { store, sandboxes, repositories, clock } = deps;
  const dryCapture = createDryCapture(deps);

  const captureNow = async (place: WorkTimeline, sandbox: ExecutionAdapter, invocation: Invocation) => {
    const { session } = place;
    const head = await store.getCheckpoint(session.sessionId, headSeqOf(place));
    const { repositories: states } = await dryCapture(
      { session, sandbox, head, toolExecutionId: DRY_CAPTURE_ID, messageId: null, reason: 'diff' },
      invocation,
    );
    return states;
  };

  const statesAt = async (
    point: string,
    place: WorkTimeline,
    sandbox: ExecutionAdapter,
    invocation: Invocation,
  ): Promise<States> => {
    const { sessionId } = place.session;
    if (point === 'now') return captureNow(place, sandbox, invocation);
    return (await findTarget(store, sessionId, targetNamed(point), headSeqOf(place))).repositories;
  };

  return async (input: DiffInput, invocation: Invocation): Promise<DiffAnswer> => {
    const { sessionId, from, to, path, stat, file, context = CONTEXT } = input;
    const place = await findTimeline(store, sessionId, input.sandboxId);
    return withSandboxAdvice(
      place.session,
      async () => {
        const sandbox = await sandboxes.open(sandboxOf(place));
        const before = await statesAt(from, place, sandbox, invocation);
        const after = await statesAt(to, place, sandbox, invocation);
        const pairs = onlyPath(pairsOf(before, after), path);
        const different = pairs.filter(
          (pair) =>
            pair.from !== pair.to ||
            (pair.fromMeta !== null && pair.toMeta !== null && pair.fromMeta !== pair.toMeta),
        );
        const diffs =
          different.length === 0
            ? []
            : await repositories.diff(sandbox, {
                sessionId,
                projectsRoot: place.session.projectsRoot,
                pairs: different,
                statOnly: stat === true,
                ...(file === undefined ? {} : { file: { file, context } }),
                maxBytes: Math.max(LEAST_BYTES, Math.floor(MAX_TOTAL_BYTES / different.length)),
                timeoutMs: commandTimeout(invocation, clock),
              });
        const differing = new Set(different.filter(({ from: a, to: b }) => a !== b).map((pair) => pair.path));
        // Where only the host state differs, it is reported when the sandbox has the objects.
        requireObjects(diffs.filter((one) => differing.has(one.path)));
        const byPath = new Map(diffs.map((diff) => [diff.path, diff]));
        return {
          repositories: pairs.map((pair) => answerOf(pair, byPath.get(pair.path))),
          warnings: [...staleWarnings(from, before), ...staleWarnings(to, after)],
        };
      },
      sandboxOf(place),
      'diff',
    );
  };
};
