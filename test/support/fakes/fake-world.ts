/**
 * Sandboxes and the repositories in them, as a small model: a repository is a map of files and a host HEAD, a
 * capture is a snapshot of both, and an object exists in a sandbox only if it was captured or brought there.
 */

import type { RepositoryInfo } from '../../../contract/checkpoint-answers.ts';
import type {
  CapturedBundle,
  CapturedRepository,
  CaptureReport,
  CaptureRequest,
  KnownRepository,
  UploadTarget,
} from '../../../core/checkpoint/ports/capture.ts';
import type { ComposeReport, ComposeRequest } from '../../../core/checkpoint/ports/compose.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import type {
  CapturedState,
  RestoreReport,
  RestoreRequest,
  VerifiedState,
} from '../../../core/checkpoint/ports/restore.ts';
import type { ExecutionAdapter, Sandboxes, SandboxTags } from '../../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { sha256Hex } from '../../../core/shared/ids.ts';
import type { FakeBucket } from './fake-bucket.ts';
import { createBundle, readBundle, sha1 } from './fake-bundle.ts';
import { mergeThreeWays } from './fake-compose.ts';
import type { FakeRepository } from './fake-repository.ts';
import { type Contents, type Ends, remnantsIn, settledContents } from './fake-settle.ts';

export type { FakeRepository } from './fake-repository.ts';

interface Snapshot {
  tree: string;
  meta: string;
  repository: FakeRepository;
}

interface FakeSandbox {
  sandboxId: string;
  tags: SandboxTags;
  startedAt: string;
  repositories: Map<string, FakeRepository>;
  /** Captures by `path`, tree and meta. */
  snapshots: Map<string, Snapshot>;
  /** Commits by `path`: a shadow belongs to its repository, and goes with it. */
  commits: Set<string>;
  parked: FakeRepository[];
}

export interface FakeWorld {
  readonly running: Map<string, FakeSandbox>;
  readonly sandboxes: Sandboxes;
  readonly repositories: Repositories;
  addSandbox(sandboxId: string, repositories: Record<string, FakeRepository>): FakeSandbox;
  /** Files of every repository of a sandbox, for comparing. */
  filesOf(sandboxId: string): Record<string, Record<string, string>>;
  /** Called between the repositories of a restore; what it throws breaks the restore off right there. */
  duringRestore: (index: number) => void;
  /** Called before each file that a restore writes or deletes; what it throws breaks the restore off right there. */
  duringWrite: () => void;
  /** Called in a capture before it answers; may change what it answers. */
  beforeAnswer: (report: CaptureReport) => CaptureReport;
  /** Called when a capture has looked and has not answered yet. */
  duringCapture: () => Promise<void>;
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : Number(a > b));

const stateOf = (repository: FakeRepository): CapturedState => ({
  tree: sha1(JSON.stringify(Object.entries(repository.files).toSorted(byName))),
  meta: sha1(`head ${repository.head ?? 'unborn'}`),
});

const nameOf = (path: string, state: CapturedState): string => `${path}\n${state.tree}\n${state.meta}`;
const commitName = (path: string, commit: string): string => `${path}\n${commit}`;
const isSame = (a: CapturedState | null | undefined, b: CapturedState | null | undefined): boolean =>
  a?.tree === b?.tree && a?.meta === b?.meta;

const infoOf = (path: string, { head }: FakeRepository): RepositoryInfo => ({
  path,
  headKind: head === undefined ? 'unborn' : 'branch',
  branch: 'main',
  head,
  commits: head === undefined ? 0 : 1,
  shallow: false,
  partial: false,
  objectFormat: 'sha1',
  base: head === undefined ? undefined : `sha1-${head}`,
});

export const createFakeWorld = (bucket: FakeBucket): FakeWorld => {
  const running = new Map<string, FakeSandbox>();
  let count = 0;

  const addSandbox = (sandboxId: string, repositories: Record<string, FakeRepository>): FakeSandbox => {
    const sandbox: FakeSandbox = {
      sandboxId,
      tags: {},
      startedAt: String(count++).padStart(6, '0'),
      repositories: new Map(Object.entries(structuredClone(repositories))),
      snapshots: new Map(),
      commits: new Set(),
      parked: [],
    };
    running.set(sandboxId, sandbox);
    return sandbox;
  };

  const need = (sandboxId: string): FakeSandbox => {
    const sandbox = running.get(sandboxId);
    if (sandbox === undefined) throw new WalkbackError('SandboxNotFound', `no sandbox ${sandboxId}`);
    return sandbox;
  };

  const unused = (): never => {
    throw new Error('the model has no commands and files');
  };
  const adapterOf = (sandboxId: string): ExecutionAdapter => ({
    sandboxId,
    run: unused,
    writeFiles: unused,
    writeStream: unused,
    readFile: unused,
    readStream: unused,
  });

  const sandboxes: Sandboxes = {
    open: async (sandboxId) => adapterOf(need(sandboxId).sandboxId),
    create: async ({ tags }) => {
      const sandbox = addSandbox(`made${count}`, {});
      sandbox.tags = tags;
      return adapterOf(sandbox.sandboxId);
    },
    find: async (tags) =>
      [...running.values()]
        .filter((sandbox) => Object.entries(tags).every(([name, value]) => sandbox.tags[name] === value))
        .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    kill: async (sandboxId) => running.delete(sandboxId),
  };

  const chainOf = (sandbox: FakeSandbox, known: KnownRepository | undefined, head: string | undefined) => {
    if (known === undefined) return 'rebase';
    if (known.next === 'append' && sandbox.commits.has(commitName(known.path, known.commit))) return 'append';
    return known.next === 'rebase' || known.baseCommit !== head ? 'rebase' : 'restart';
  };

  const captureOne = (
    sandbox: FakeSandbox,
    request: Pick<CaptureRequest, 'known' | 'knownBases' | 'targets'>,
    path: string,
    repository: FakeRepository,
  ): { repository: CapturedRepository; bundles: CapturedBundle[] } => {
    const known = request.known.find((one) => one.path === path);
    const state = stateOf(repository);
    const info = infoOf(path, repository);
    sandbox.snapshots.set(nameOf(path, state), { ...state, repository: structuredClone(repository) });
    const target = request.targets?.find((one) => one.path === path);
    const missingTarget = target !== undefined && !sandbox.commits.has(commitName(path, target.commit));
    if (isSame(known, state)) {
      const { commit } = known ?? { commit: '' };
      return {
        repository: { path, state: 'captured', ...state, commit, changed: false, info, missingTarget },
        bundles: [],
      };
    }
    const chain = chainOf(sandbox, known, repository.head);
    const isAppend = chain === 'append' && known !== undefined;
    const baseCommit = isAppend ? known.baseCommit : repository.head;
    const base = isAppend ? known.base : info.base;
    const prerequisites = isAppend ? [known.commit] : baseCommit === undefined ? [] : [baseCommit];
    const commit = sha1(`${path} ${state.tree} ${state.meta} ${prerequisites.join()} ${count++}`);
    sandbox.commits.add(commitName(path, commit));
    if (repository.head !== undefined) sandbox.commits.add(commitName(path, repository.head));
    const bundles: CapturedBundle[] = [];
    const add = (kind: 'base' | 'link', tip: string, needs: string[], content: unknown) => {
      const bytes = createBundle(tip, needs, content);
      bundles.push({
        repositoryPath: path,
        kind,
        commit: tip,
        base: kind === 'base' ? base : undefined,
        sizeBytes: bytes.length,
        sha256: sha256Hex(bytes),
        bytes,
      });
    };
    if (!isAppend && base !== undefined && baseCommit !== undefined && !request.knownBases.includes(base)) {
      add('base', baseCommit, [], { history: baseCommit });
    }
    add('link', commit, prerequisites, { path, ...state, repository });
    const captured: CapturedRepository = {
      path,
      state: 'captured',
      ...state,
      commit,
      changed: true,
      chain,
      base,
      baseCommit,
      info,
      missingTarget,
    };
    return { repository: captured, bundles };
  };

  const sendLarge = async (bundles: CapturedBundle[], maxInlineBytes: number, upload: UploadTarget) => {
    let total = 0;
    for (const bundle of bundles.toSorted((a, b) => a.sizeBytes - b.sizeBytes)) {
      const { bytes } = bundle;
      total += bundle.sizeBytes;
      if (bytes === undefined || total <= maxInlineBytes) continue;
      const target = await upload({ ...bundle, bytes: undefined });
      if (target !== null) bucket.send(target.url, target.headers, bytes);
      bundle.bytes = undefined;
    }
  };

  const bringIn = (
    sandbox: FakeSandbox,
    request: { repositories: readonly Pick<RestoreRequest['repositories'][number], 'path' | 'bundles'>[] },
  ): string | undefined => {
    for (const { path, bundles } of request.repositories) {
      for (const source of bundles) {
        const bytes = source.bytes ?? bucket.fetch(source.url ?? '', source.headers);
        if (sha256Hex(bytes) !== source.sha256) return 'a bundle is damaged';
        const { commit, prerequisites, content } = readBundle(bytes);
        const has = (id: string) => sandbox.commits.has(commitName(path, id));
        if (!prerequisites.every(has)) return 'a prerequisite is missing';
        sandbox.commits.add(commitName(path, commit));
        if (source.kind === 'link') {
          const held = content as Snapshot;
          sandbox.snapshots.set(nameOf(path, held), held);
        }
      }
    }
    return undefined;
  };

  const composeIn = (sandbox: FakeSandbox, request: ComposeRequest): ComposeReport => {
    const report: ComposeReport = {
      repositories: [],
      bundles: [],
      failures: [],
      skipped: [],
      conflicts: [],
      unknownPaths: [],
      missing: [],
      unsupported: [],
      hostKept: [],
      hostTaken: [],
      warnings: [],
      roundTrips: 1,
    };
    for (const { known, steps, bundles, paths, isNew } of request.repositories) {
      const { path } = known;
      const at = (state: CapturedState) => sandbox.snapshots.get(nameOf(path, state))?.repository;
      const problem = bringIn(sandbox, { repositories: [{ path, bundles }] });
      let result = at(known);
      for (const step of steps) {
        const [base, theirs] = [at(step.base), at(step.theirs)];
        if (result === undefined || base === undefined || theirs === undefined) result = undefined;
        else {
          const merged = mergeThreeWays(path, { base, ours: result, theirs }, paths);
          report.conflicts.push(...merged.conflicts);
          if (merged.host === 'taken') report.hostTaken.push(path);
          if (merged.host === 'kept') report.hostKept.push(path);
          result = merged.repository;
        }
      }
      if (problem !== undefined || result === undefined) {
        report.missing.push(path);
        report.repositories.push({ path, state: 'failed', changed: false });
        continue;
      }
      const { knownBases } = request;
      const made = captureOne(sandbox, { known: isNew === true ? [] : [known], knownBases }, path, result);
      report.repositories.push(made.repository);
      if (request.isExported && report.conflicts.length === 0) report.bundles.push(...made.bundles);
    }
    return report;
  };

  const refuse = (
    kind: RestoreReport['problems'][number]['kind'],
    path: string,
    message: string,
  ): RestoreReport => ({
    outcome: 'refused',
    repositories: [],
    problems: [{ kind, path, message }],
    warnings: [],
    roundTrips: 1,
  });

  const standsAt = (sandbox: FakeSandbox, path: string): CapturedState | null => {
    const repository = sandbox.repositories.get(path);
    return repository === undefined ? null : stateOf(repository);
  };

  const verifiedAt = (sandbox: FakeSandbox, path: string): VerifiedState | null => {
    const state = standsAt(sandbox, path);
    return state === null ? null : { ...state, apart: [] };
  };

  const put = (sandbox: FakeSandbox, path: string, state: CapturedState | null): void => {
    const before = sandbox.repositories.get(path);
    if (state === null) {
      if (before !== undefined) world.duringWrite();
      if (before !== undefined) sandbox.parked.push(before);
      sandbox.repositories.delete(path);
      // Its shadow went with it.
      for (const names of [sandbox.snapshots, sandbox.commits]) {
        for (const name of names.keys()) if (name.startsWith(`${path}\n`)) names.delete(name);
      }
      return;
    }
    const snapshot = sandbox.snapshots.get(nameOf(path, state));
    if (snapshot === undefined) throw new Error(`no snapshot of ${path}`);
    write(sandbox, path, snapshot.repository);
  };

  /** File by file, HEAD last. */
  const write = (sandbox: FakeSandbox, path: string, goal: FakeRepository): void => {
    const standing = sandbox.repositories.get(path) ?? { files: {} };
    const { files } = standing;
    for (const name of new Set([...Object.keys(files), ...Object.keys(goal.files)])) {
      const wanted = goal.files[name];
      if (files[name] === wanted) continue;
      world.duringWrite();
      sandbox.repositories.set(path, standing);
      if (wanted === undefined) delete files[name];
      else files[name] = wanted;
    }
    if (standing.head !== goal.head) world.duringWrite();
    sandbox.repositories.set(path, structuredClone(goal));
  };

  const settle = (sandbox: FakeSandbox, request: RestoreRequest): RestoreReport => {
    const at = (path: string, state: CapturedState | null): Contents =>
      state === null ? null : (sandbox.snapshots.get(nameOf(path, state))?.repository ?? null);
    const all = request.repositories.map(
      ({ path, undo, target, now }): Ends => ({
        path,
        undo: at(path, undo),
        target: at(path, target),
        now: at(path, now),
      }),
    );
    const settled = remnantsIn(all);
    for (const [index, ends] of settled.reached === 0 ? [] : all.entries()) {
      world.duringRestore(index);
      const goal = settledContents(ends);
      if (goal === null) put(sandbox, ends.path, null);
      else write(sandbox, ends.path, goal);
    }
    const repositories = all.map(({ path }) => ({
      path,
      action: 'restored' as const,
      written: 0,
      deleted: 0,
      verified: verifiedAt(sandbox, path),
      paths: [],
    }));
    return { outcome: 'applied', repositories, problems: [], warnings: [], settled, roundTrips: 1 };
  };

  const world: FakeWorld = {
    running,
    sandboxes,
    addSandbox,
    filesOf: (sandboxId) =>
      Object.fromEntries(
        [...need(sandboxId).repositories]
          .toSorted(byName)
          .map(([path, { files }]) => [path, structuredClone(files)]),
      ),
    duringRestore: () => undefined,
    duringWrite: () => undefined,
    beforeAnswer: (report) => report,
    duringCapture: async () => undefined,
    repositories: {
      survey: async ({ sandboxId }) => ({
        repositories: [...need(sandboxId).repositories].map(([path, one]) => infoOf(path, one)),
        skipped: [],
      }),
      countLooseFiles: async () => ({ files: 0, bytes: 0 }),
      capture: async ({ sandboxId }, request, upload) => {
        const sandbox = need(sandboxId);
        const taken = [...sandbox.repositories].map(([path, one]) => captureOne(sandbox, request, path, one));
        await world.duringCapture();
        const bundles = taken.flatMap((one) => one.bundles);
        await sendLarge(bundles, request.maxInlineBytes, upload);
        const absent = request.known
          .filter(({ path }) => !sandbox.repositories.has(path))
          .map(({ path }): CapturedRepository => ({ path, state: 'absent', changed: false }));
        return world.beforeAnswer({
          repositories: [...taken.map((one) => one.repository), ...absent],
          bundles,
          failures: [],
          skipped: [],
          roundTrips: 1,
        });
      },
      lateStored: async () => undefined,
      release: async () => undefined,
      leftovers: async () => [],
      compose: async ({ sandboxId }, request) => composeIn(need(sandboxId), request),
      carry: async () => 'carried',
      restore: async ({ sandboxId }, request) => {
        const sandbox = need(sandboxId);
        const problem = bringIn(sandbox, request);
        if (problem !== undefined) return refuse('missing-objects', '.', problem);
        for (const { path, target, now, undo } of request.repositories) {
          if (!isSame(standsAt(sandbox, path), now)) return refuse('changed', path, 'it changed meanwhile');
          if (target !== null && !sandbox.snapshots.has(nameOf(path, target))) {
            return refuse('missing-objects', path, 'its objects are missing');
          }
          const lacksUndo = undo !== null && !sandbox.snapshots.has(nameOf(path, undo));
          if (request.settle === true && lacksUndo) {
            return refuse('missing-objects', path, 'the objects of its undo are missing');
          }
        }
        if (request.settle === true) return settle(sandbox, request);
        const restored = request.repositories.map(({ path, target, now }) => ({
          path,
          action: isSame(target, now) ? ('unchanged' as const) : ('restored' as const),
          written: isSame(target, now) ? 0 : 1,
          deleted: 0,
          verified: null,
          paths: [],
        }));
        const answer = { repositories: restored, problems: [], warnings: [], roundTrips: 1 };
        if (request.dryRun) return { ...answer, outcome: 'planned' };
        for (const [index, { path, target }] of request.repositories.entries()) {
          world.duringRestore(index);
          put(sandbox, path, target);
        }
        const read = restored.map((one) => ({ ...one, verified: verifiedAt(sandbox, one.path) }));
        return { ...answer, repositories: read, outcome: 'applied' };
      },
      diff: async () => [],
      blame: async () => ({ kind: 'absent' }),
      findFile: async () => [],
      directories: async (_sandbox, { paths }) =>
        paths.map((path) => ({ path, entries: ['README.md'], truncated: false })),
    },
  };
  return world;
};
