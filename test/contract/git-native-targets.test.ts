/**
 * Before a rollback a capture also has what the target would overwrite, ignored or not. The native program captures the same
 * of it as the scripts, and each way back and forth brings every file back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { INIT } from '../support/git-cases.ts';
import { createHarness, type HarnessOptions } from '../support/git-harness.ts';
import { besideCaptures, nativeProgram } from '../support/git-native.ts';

interface Case {
  name: string;
  then: string;
  since: string;
  options?: HarnessOptions;
  /** What the capture of now holds that rules ignore. */
  forced: string[];
  /** What it tells as left out. */
  skipped?: string[];
}

const CASES: Case[] = [
  {
    name: 'a file over the cap that rules ignore',
    then: 'echo then >key',
    since: 'echo key >.git/info/exclude; head -c 3000 /dev/zero >key',
    options: { maxFileBytes: 1000 },
    forced: ['key'],
    skipped: [],
  },
  {
    name: 'a file over the cap that nothing ignores',
    then: 'echo then >key',
    since: 'head -c 3000 /dev/zero >key',
    options: { maxFileBytes: 1000 },
    forced: ['key'],
    skipped: ['app/key'],
  },
];

describe('before a rollback, a capture has what it would overwrite', () => {
  beforeAll(() => {
    besideCaptures.native = { program: nativeProgram(), states: 0 };
  });
  afterAll(() => {
    delete besideCaptures.native;
  });

  const ways = CASES.flatMap((one) => [
    { ...one, way: 'as the scripts see it', isNative: false },
    { ...one, way: 'natively', isNative: true },
  ]);
  test.for(ways)('$name, $way', async ({ then, since, options, forced, skipped = [], isNative }) => {
    const native = besideCaptures.native;
    if (isNative) delete besideCaptures.native;
    try {
      await using harness = await createHarness({ ...options, isNative });
      harness.sh(`mkdir app; cd app; ${INIT}; ${then}`);
      const first = await harness.capture();
      harness.sh(since, 'app');
      const now = files(harness.root);
      const before = await harness.capture();
      const held = (tree = ''): string[] =>
        harness
          .sh(`git --git-dir=.agent-shadow/session-s1 ls-tree -r -z --name-only ${tree}`, 'app')
          .split('\0');
      const treeOf = ({ repositories }: typeof before): string | undefined =>
        repositories.find(({ path }) => path === 'app')?.tree;
      const { undo, report } = await harness.rollback(first);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      expect(undo.report.skipped.map(({ path }) => path)).toEqual(skipped);
      const seen = new Set(held(treeOf(before)));
      expect(held(treeOf(undo)).filter((path) => !seen.has(path))).toEqual(forced);
      const back = await harness.rollback(undo);
      expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
      expect(files(harness.root)).toEqual(now);
    } finally {
      if (native !== undefined) besideCaptures.native = native;
    }
  });
});
