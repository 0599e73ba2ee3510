/**
 * Captures with the native program what a look just saw, and compares: it says the same, and its bundles bring the tree to
 * where nothing is. Each capture of a harness builds on the one before.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/capture-command.ts';
import { createNativeCapture } from '../../adapters/git/program/capture.ts';
import type { CaptureReport, CaptureRequest } from '../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import type { Snapshot } from './git-snapshot.ts';
import { runSync } from './run-sync.ts';
import { programHere } from './sandbox-program.ts';

/** What is used of a harness. */
interface Harness {
  top: string;
  root: string;
  sandbox: ExecutionAdapter;
  sh: (script: string, directory?: string) => string;
}

type Limits = Pick<CaptureRequest, 'include' | 'exclude' | 'maxFileBytes' | 'maxDepth'>;

/** What the store has of a harness: the last capture, and how many there were. */
interface Stored {
  count: number;
  repositories: CaptureReport['repositories'];
}

const stores = new WeakMap<Harness, Stored>();
const capture = createNativeCapture(programHere(), OUTPUT_BYTES);

/** Captures, knowing what the scripts know. */
export const captureNative = async (
  harness: Harness,
  { before, target }: { before?: Snapshot; target?: Snapshot },
  sessionId: string,
  limits: Limits,
): Promise<CaptureReport> => {
  const stored = stores.get(harness) ?? { count: 0, repositories: [] };
  const count = stored.count + 1;
  const known = new Set(
    (before?.repositories ?? []).flatMap(({ path, state }) => (state === 'captured' ? [path] : [])),
  );
  const report = await capture(
    harness.sandbox,
    {
      sessionId,
      projectsRoot: harness.root,
      toolExecutionId: `n${count}`,
      messageId: 'm',
      reason: 'manual',
      known: stored.repositories.flatMap((one) =>
        one.state === 'captured' && known.has(one.path) ? [{ ...one, next: 'append' as const }] : [],
      ),
      knownBases: [],
      targets: (target?.repositories ?? []).flatMap((one) =>
        one.state === 'captured'
          ? [{ path: one.path, commit: one.commit, tree: one.tree, meta: one.meta }]
          : [],
      ),
      timeoutMs: 240_000,
      maxInlineBytes: 1 << 30,
      ...limits,
    },
    async () => null,
  );
  // What a failed capture leaves out is still in the store.
  const named = new Set(report.repositories.map(({ path }) => path));
  const kept = stored.repositories.filter(({ path }) => !named.has(path));
  stores.set(harness, { count, repositories: [...kept, ...report.repositories] });
  harness.sh(`rm -rf .agent-shadow/beside-${sessionId}* .agent-shadow/taken-${sessionId}`);
  bringOut(harness, report);
  return report;
};

/** Brings the bundles into a repository that has those before them, and compares the trees. */
const bringOut = ({ top, root }: Harness, { repositories, bundles }: CaptureReport): void => {
  for (const one of repositories) {
    // The bundles of a partial clone lack what the clone lacks.
    if (one.state !== 'captured' || !one.changed || one.info?.partial === true) continue;
    const format = one.info?.objectFormat ?? 'sha1';
    const store = join(top, 'native-store', `${one.path.replaceAll('/', '%')}.${format}`);
    const env = { PATH: process.env['PATH'] ?? '', HOME: '/dev/null' };
    const git = (...args: string[]): string => runSync('git', args, { cwd: root, env });
    mkdirSync(store, { recursive: true });
    git('init', '-q', '--bare', `--object-format=${format}`, store);
    const own = bundles.filter(({ repositoryPath }) => repositoryPath === one.path);
    for (const { bytes, commit } of own.toSorted((first, second) => (first.kind < second.kind ? -1 : 1))) {
      writeFileSync(`${store}/in.bundle`, bytes ?? new Uint8Array());
      git(`--git-dir=${store}`, 'bundle', 'unbundle', `${store}/in.bundle`);
      git(`--git-dir=${store}`, 'update-ref', `refs/walkback/${commit}`, commit);
    }
    expect(git(`--git-dir=${store}`, 'rev-parse', `${one.commit}^{tree}`).trim(), one.path).toBe(one.tree);
    expect(git(`--git-dir=${store}`, 'rev-parse', `${one.commit}^@`)).toContain(one.meta);
  }
};
