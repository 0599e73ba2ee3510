/** How much of a capture goes through the function: the sum of bundles decides, not each of them. */
import { describe, expect, test } from 'vitest';
import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import { failing } from '../support/fakes/failing.ts';
import { createGitStage } from '../support/git-stage.ts';
import { rewritingCapture } from '../support/hostile-output.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const CARRIED = 150 * 1024;

describe('bundles that are small each, and large together', () => {
  test('are carried as far as there is room, the smallest, and the others are uploaded', async () => {
    await using stage = await createGitStage({ bundles: { ...BUNDLE_LIMITS, carriedBytes: CARRIED } });
    const sandboxId = await stage.addSandbox();
    const sizes = [100, 40, 70, 90, 20].map((kib) => kib * 1024);
    for (const [at, name] of NAMES.entries())
      stage.sh(sandboxId, `git init -q ${name} && head -c ${sizes[at]} /dev/urandom > ${name}/noise`);
    const { checkpointId } = await stage.start('s1', sandboxId);
    // 20 + 40 + 70 KiB; with 90 it would be too much.
    expect(stage.reads).toHaveLength(1);
    expect(stage.reads[0]).toBeGreaterThan(130 * 1024);
    expect(stage.reads[0]).toBeLessThanOrEqual(CARRIED);
    expect(stage.store.tables.links.size).toBe(NAMES.length);
    const copy = await stage.rehydrate('s1', checkpointId);
    for (const name of NAMES)
      stage.sh(copy.sandboxId, `cmp ${name}/noise ${stage.rootOf(sandboxId)}/${name}/noise`);
  });

  test('that a sandbox says are small are refused before they are read', async () => {
    await using stage = await createGitStage();
    const sandboxId = await stage.addSandbox();
    stage.sh(sandboxId, 'git init -q a && echo one > a/f');
    await stage.start('s1', sandboxId);
    stage.sh(sandboxId, 'echo two > a/f');
    const lie = (sizeBytes: number) =>
      rewritingCapture(({ report, frames }) => ({
        report: {
          ...report,
          bundles: report.bundles.map((one) => ({ ...one, sizeBytes, carry: 'file' as const })),
        },
        frames,
      }));
    stage.lies.set(sandboxId, lie(100 * 1024 ** 3));
    await failing(stage.checkpoint('s1', 't1'), 'BundleTooLarge');
    // What is no size is no answer of the program.
    for (const size of [-1, 0.5]) {
      stage.lies.set(sandboxId, lie(size));
      await failing(stage.checkpoint('s1', 't1'), 'SandboxUnavailable');
    }
    expect(stage.reads).toEqual([]);
    stage.lies.clear();
    expect((await stage.checkpoint('s1', 't1')).complete).toBe(true);
  });
});
