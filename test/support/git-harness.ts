/**
 * A session without a cloud: the real program on real repositories, bundles kept in memory in the order a store
 * would hold them. For the case list of the git adapter.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxProgram } from '../../adapters/git/program/call.ts';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { ROOT } from '../../core/checkpoint/capture/capture-request.ts';
import { DEFAULTS } from '../../core/checkpoint/defaults.ts';
import type { WorkDone } from '../../core/checkpoint/model.ts';
import type { BundleSource, RestoreReport, RestoreRequest } from '../../core/checkpoint/ports/restore.ts';
import { skippedBelow } from '../../core/checkpoint/restore/asides.ts';
import { notAtTarget } from '../../core/checkpoint/restore/restore-plan.ts';
import { type ComposedSnapshot, type ComposeFlags, composeSnapshot } from './git-compose.ts';
import type { Snapshot } from './git-snapshot.ts';
import { processSandbox } from './process-sandbox.ts';
import { runSync } from './run-sync.ts';
import { programHere } from './sandbox-program.ts';

export type { Snapshot } from './git-snapshot.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
};

export interface HarnessOptions {
  /** What the projects root is called. */
  projects?: string;
  include?: string[];
  exclude?: string[];
  maxFileBytes?: number;
  maxDepth?: number;
  maxInlineBytes?: number;
  /** Captures the projects root too, with what lies in no repository. */
  looseFiles?: boolean;
  /** Records what changed. */
  changes?: boolean;
  env?: Record<string, string>;
  prefix?: string[];
  /** Hears of the progress of captures and restores. */
  onProgress?: (done: WorkDone) => void;
  /** Instead of the one that lies here. */
  program?: SandboxProgram;
}

const captured = (snapshot: Snapshot | undefined, path: string) => {
  const found = snapshot?.repositories.find((one) => one.path === path);
  return found?.state === 'captured' && found.tree !== undefined && found.meta !== undefined
    ? { tree: found.tree, meta: found.meta }
    : null;
};

/** As the function does: what a restore says that it read back is its target. */
const requireVerified = (paths: string[], target: Snapshot, report: RestoreReport): void => {
  if (report.outcome !== 'applied') return;
  const asked = paths.map((path) => ({ ...NOTHING_ASKED, path, target: captured(target, path) }));
  const astray = notAtTarget(asked, report);
  if (astray.length > 0) throw new Error(`not verified: ${astray.join(', ')} of ${JSON.stringify(report)}`);
};
const NOTHING_ASKED = { now: null, undo: null, bundles: [] };

export const createHarness = async (options: HarnessOptions = {}) => {
  const top = await mkdtemp(join(tmpdir(), 'walkback-git-'));
  const home = join(top, 'home');
  const program = options.program ?? programHere();
  const repositories = createRepositories(program);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...options.env };
  const common = {
    sessionId: 's1',
    include: options.include ?? [],
    exclude: options.exclude ?? [],
    maxFileBytes: options.maxFileBytes ?? 256 * 1024 * 1024,
    maxDepth: options.maxDepth ?? DEFAULTS.maxDepth,
    timeoutMs: 240_000,
  };
  const hooks = options.onProgress && { onProgress: options.onProgress };
  let executions = 0;
  let arrivals = 0;
  let last: Snapshot | undefined;
  let root = join(top, options.projects ?? 'projects');
  await mkdir(root, { recursive: true });
  await mkdir(home, { recursive: true });

  const ask = (request: RestoreRequest): Promise<RestoreReport> =>
    repositories.restore(harness.sandbox, request, hooks);

  const harness = {
    top,
    home,
    sandbox: processSandbox(env, options.prefix),
    get root() {
      return root;
    },
    /** Bash in the projects root, or a directory below it, as the agent would run it. */
    sh: (script: string, directory = '.'): string =>
      runSync('/bin/bash', ['-euc', script], {
        cwd: join(root, directory),
        env: { ...env, ...IDENTITY, GIT_CONFIG_NOSYSTEM: '1' },
      }),
    capture: async (target?: Snapshot, { late = false } = {}): Promise<Snapshot> => {
      executions += 1;
      const known = (last?.repositories ?? []).flatMap((one) =>
        one.state === 'captured' &&
        one.commit !== undefined &&
        one.tree !== undefined &&
        one.meta !== undefined
          ? [
              {
                path: one.path,
                commit: one.commit,
                tree: one.tree,
                meta: one.meta,
                base: one.base,
                baseCommit: one.baseCommit,
                next: 'append' as const,
              },
            ]
          : [],
      );
      const uploads = new Map<string, Uint8Array>();
      const report = await repositories.capture(
        harness.sandbox,
        {
          ...common,
          projectsRoot: root,
          toolExecutionId: `t${executions}`,
          messageId: `m${executions}`,
          reason: 'manual',
          known: options.looseFiles === true && last === undefined ? [ROOT] : known,
          knownBases: [],
          maxInlineBytes: options.maxInlineBytes ?? 8 * 1024 * 1024,
          late,
          changes: options.changes === true && last !== undefined,
          targets: (target?.repositories ?? []).flatMap((one) =>
            one.commit === undefined || one.tree === undefined || one.meta === undefined
              ? []
              : [{ path: one.path, commit: one.commit, tree: one.tree, meta: one.meta }],
          ),
        },
        async () => null,
        hooks,
      );
      const chains = new Map<string, BundleSource[]>();
      for (const one of report.repositories) {
        const bundles = report.bundles.filter((bundle) => bundle.repositoryPath === one.path);
        const before = last?.chains.get(one.path) ?? [];
        const fresh = bundles.map((bundle) => ({
          ...bundle,
          bytes: bundle.bytes ?? uploads.get(bundle.sha256),
        }));
        const base =
          one.chain === 'rebase'
            ? fresh.filter((bundle) => bundle.kind === 'base')
            : before.filter((bundle) => bundle.kind === 'base');
        const links = fresh.filter((bundle) => bundle.kind === 'link');
        chains.set(
          one.path,
          one.chain === undefined || one.chain === 'append' ? [...before, ...links] : [...base, ...links],
        );
      }
      last = { repositories: report.repositories, report, tag: `t${executions}`, chains };
      return last;
    },
    /** What other processes wrote during a restore, as the function stores it: `undo` with what was put aside. */
    captureLate: async (undo: Snapshot): Promise<Snapshot> => {
      const before = last;
      last = undo;
      const late = await harness.capture(undefined, { late: true });
      last = before;
      return late;
    },
    /**
     * Merges into the last capture what happened between two others, step by step, as the function does.
     * The answer can be rolled back to.
     */
    compose: (
      steps: { base: Snapshot; theirs: Snapshot }[],
      flags: ComposeFlags = {},
    ): Promise<ComposedSnapshot> => {
      const now = last;
      if (now === undefined) throw new Error('nothing was captured');
      executions += 1;
      const { sandbox } = harness;
      const { sessionId, timeoutMs, include } = common;
      const about = {
        sandbox,
        program,
        projectsRoot: root,
        sessionId,
        timeoutMs,
        include,
        tag: `t${executions}`,
      };
      return composeSnapshot(about, now, steps, flags);
    },
    /** Tells the sandbox that this capture is durable. */
    lateStored: (late: Snapshot): Promise<void> =>
      repositories.lateStored(harness.sandbox, {
        sessionId: common.sessionId,
        projectsRoot: root,
        toolExecutionId: late.tag,
        timeoutMs: common.timeoutMs,
      }),
    /** What the store has: the next capture is made on this, and nothing else is known. */
    standOn: (snapshot: Snapshot | undefined): void => {
      last = snapshot;
    },
    /** Rolls back as the function does: capture now, then restore. Returns what undoes it. */
    rollback: async (
      target: Snapshot,
      flags: {
        filesOnly?: boolean;
        dryRun?: boolean;
        allowConcurrentWriters?: boolean;
        /** The capture of now, where there is one already. */
        from?: Snapshot;
        /** Where it goes back to when it fails: what was there before an earlier call of the same rollback. */
        undo?: Snapshot;
        /** Around the restore alone, not the capture before it. */
        around?: (restore: () => Promise<RestoreReport>) => Promise<RestoreReport>;
      } = {},
    ): Promise<{ undo: Snapshot; report: RestoreReport }> => {
      const undo = flags.from ?? (await harness.capture(target));
      last = undo;
      const all = [target, undo, flags.undo ?? undo].flatMap(({ repositories }) => repositories);
      const paths = new Set(all.map((one) => one.path));
      const skipped = skippedBelow([...paths], target.report.skipped);
      const restore = (lacking: string[]) =>
        ask({
          ...common,
          projectsRoot: root,
          filesOnly: flags.filesOnly ?? false,
          dryRun: flags.dryRun ?? false,
          allowConcurrentWriters: flags.allowConcurrentWriters ?? false,
          targetTag: target.tag,
          repositories: [...paths].map((path) => {
            const goal = target.repositories.find((one) => one.path === path);
            const present = undo.repositories.find((one) => one.path === path);
            const missing =
              goal !== undefined && (present?.missingTarget !== false || lacking.includes(path));
            return {
              path,
              target: captured(target, path),
              now: captured(undo, path),
              undo: captured(flags.undo ?? undo, path),
              partial: goal?.info?.partial,
              skipped: skipped.get(path),
              stash: goal?.stash,
              bundles: missing ? (target.chains.get(path) ?? []) : [],
            };
          }),
        });
      const first = await (flags.around ?? ((work) => work()))(() => restore([]));
      const lacking = first.problems.filter((one) => one.kind === 'missing-objects').map((one) => one.path);
      const report = lacking.length === 0 ? first : await restore(lacking);
      requireVerified([...paths], target, report);
      if (report.outcome === 'applied') last = target;
      return { undo, report };
    },
    /**
     * Settles a rollback from `undo` to `target` that broke off, as the function does: capture what is there, then put
     * back what it wrote.
     */
    settle: async (
      undo: Snapshot,
      target: Snapshot,
      /** The capture of now, where there is one already. */
      from?: Snapshot,
    ): Promise<{ found: Snapshot; report: RestoreReport }> => {
      const found = from ?? (await harness.capture(target));
      const paths = new Set([...target.repositories, ...undo.repositories].map((one) => one.path));
      const settled = (bring: boolean) =>
        ask({
          ...common,
          projectsRoot: root,
          filesOnly: false,
          dryRun: false,
          settle: true,
          targetTag: target.tag,
          repositories: [...paths].map((path) => ({
            path,
            target: captured(target, path),
            now: captured(found, path),
            undo: captured(undo, path),
            bundles: bring ? [...(target.chains.get(path) ?? []), ...(undo.chains.get(path) ?? [])] : [],
          })),
        });
      const first = await settled(false);
      const isLacking = first.problems.some((one) => one.kind === 'missing-objects');
      return { found, report: isLacking ? await settled(true) : first };
    },
    /** Restores a snapshot into a projects root elsewhere, which holds what `template` makes, and goes on there. */
    rehydrate: async (target: Snapshot, template = ''): Promise<RestoreReport> => {
      // Each time another one: a second arrival in the same sandbox is a command that was delivered twice.
      arrivals += 1;
      root = join(top, `fresh-${arrivals}`, options.projects ?? 'projects');
      await mkdir(root, { recursive: true });
      harness.sh(template);
      const report = await ask({
        ...common,
        projectsRoot: root,
        filesOnly: false,
        dryRun: false,
        fresh: true,
        repositories: target.repositories
          .filter((one) => one.state === 'captured')
          .map((one) => ({
            path: one.path,
            target: captured(target, one.path),
            now: null,
            undo: null,
            partial: one.info?.partial,
            stash: one.stash,
            bundles: target.chains.get(one.path) ?? [],
          })),
      });
      requireVerified(
        target.repositories.map(({ path }) => path),
        target,
        report,
      );
      last = target;
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      await rm(top, { recursive: true, force: true });
    },
  };
  return harness;
};

export type Harness = Awaited<ReturnType<typeof createHarness>>;
