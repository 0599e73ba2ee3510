/** The bundles of a capture in a repository that has those before them, as in a store. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CaptureReport } from '../../core/checkpoint/ports/capture.ts';
import type { Harness } from './git-harness.ts';
import { runSync } from './run-sync.ts';

/** Brings the bundles into a repository that has those before them, and compares the trees. */
export const bringOut = (
  { top, root }: Pick<Harness, 'top' | 'root'>,
  { repositories, bundles }: CaptureReport,
): void => {
  for (const one of repositories) {
    // The bundles of a partial clone lack what the clone lacks.
    if (one.state !== 'captured' || !one.changed || one.info?.partial === true) continue;
    const format = one.info?.objectFormat ?? 'sha1';
    const store = join(top, 'store', `${one.path.replaceAll('/', '%')}.${format}`);
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
