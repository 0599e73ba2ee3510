/** Two repositories of which other processes wrote files while a rollback was at work; one of them went with it. */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { isWalkbackError } from '../../core/shared/errors.ts';
import type { HarnessOptions, Snapshot } from './git-harness.ts';
import { withRepositories } from './git-repositories.ts';
import { runSync } from './run-sync.ts';

const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const FILES = ['app/f.txt', 'gone/g', 'gone/link'];

const treesOf = ({ repositories }: Snapshot) => repositories.map(({ path, tree }) => [path, tree]);

export const lateScene = async (options: HarnessOptions) => {
  const harness = await withRepositories(['app'], options);
  const first = await harness.capture();
  harness.sh(
    'echo two > app/f.txt; mkdir gone; cd gone; git init -q -b main .; echo g > g; ln -s g link; git add .; git commit -qm g',
  );
  const undo = await harness.capture(first);
  const { report } = await harness.rollback(first, { from: undo });
  expect(report.outcome).toBe('applied');
  // As if they had been written meanwhile: the files are where a restore would have kept them.
  const aside = `${harness.root}/.agent-shadow/aside-s1`;
  for (const [number, path, name] of [
    [0, 'app', 'f.txt'],
    [1, 'gone', 'g'],
  ] as const) {
    runSync(
      '/bin/sh',
      [
        '-c',
        `mkdir -p "$1/files" && echo sha1 >"$1/format" && printf '${path}\\0' >"$1/path" && printf '${name}\\0${path === 'gone' ? 'link\\0' : ''}' >"$1/late" && : >"$1/were" && echo "late ${path}" >"$1/files/${name}"${path === 'gone' ? ' && ln -s late "$1/files/link"' : ''}`,
        'sh',
        `${aside}/call/${number}.1`,
      ],
      PLACE,
    );
  }
  const { root } = harness;
  runSync('cp', ['-a', root, `${root}.saved`], PLACE);
  const reset = () => runSync('/bin/sh', ['-c', 'rm -rf "$1" && cp -a "$1.saved" "$1"', 'sh', root], PLACE);
  const whole = await harness.captureLate(undo);
  expect([whole.report.failures, whole.report.late?.toSorted()]).toEqual([[], FILES]);

  /** The capture that was answered, until the next one. */
  let durable: Snapshot | undefined;
  return {
    harness,
    /** Makes everything what it was before anything was stored. */
    reset,
    /** Captures the late files, and says that they are stored. */
    store: async (): Promise<void> => {
      durable = undefined;
      durable = await harness.captureLate(undo);
      // As the core does: a capture that failed for one repository is not stored.
      if (durable.report.failures.length === 0) await harness.lateStored(durable);
    },
    /**
     * What came of storing them: they are whole, or it was told that they are not. Either way the same again stores all that
     * is not stored, and then nothing is kept in the sandbox.
     */
    isWholeOrTold: async (error: unknown, where: string): Promise<'whole' | 'told'> => {
      if (error !== undefined) {
        if (!isWalkbackError(error)) throw error;
        expect(error.retryable, `${where}: ${error.message}`).toBe(true);
      }
      const failures = durable?.report.failures ?? [];
      expect(
        failures.filter(({ reason }) => !/\w/.test(reason)),
        where,
      ).toEqual([]);
      const isWhole = durable !== undefined && failures.length === 0;
      // What was told is still there: it can be captured again.
      const stored = isWhole ? durable : await harness.captureLate(undo);
      expect(stored === undefined ? [] : treesOf(stored), where).toEqual(treesOf(whole));
      if (existsSync(aside)) await harness.lateStored(await harness.captureLate(undo));
      expect(existsSync(aside), where).toBe(false);
      return isWhole ? 'whole' : 'told';
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
};
