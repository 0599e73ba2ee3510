/** The native program sees in every case of the case lists what the scripts capture: before, after, and on the way back. */
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { GIT_CASES, INIT } from '../support/git-cases.ts';
import { createHarness } from '../support/git-harness.ts';
import { besideCaptures, nativeProgram } from '../support/git-native.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-native-cases');

describe('the native look', () => {
  beforeAll(() => {
    besideCaptures.native = { program: nativeProgram(), states: 0 };
  });
  afterAll(() => {
    process.stdout.write(`git-native-cases: ${besideCaptures.native?.states} states compared\n`);
    delete besideCaptures.native;
  });

  test.for(sampled(GIT_CASES, { every: 9, offset: printedSeed('native cases'), minimum: 4 }))(
    '$name',
    async ({ setup, damage, options }) => {
      await using harness = await createHarness(options);
      mkdirSync(`${harness.root}/app`);
      harness.sh(INIT, 'app');
      harness.sh(setup, 'app');
      const first = await harness.capture();
      await harness.capture();
      harness.sh(damage, 'app');
      const second = await harness.capture();
      expect((await harness.rollback(first)).report.outcome).toBe('applied');
      await harness.capture();
      expect((await harness.rollback(second)).report.outcome).toBe('applied');
      await harness.capture();
    },
  );

  test('settings of the repository that convert files, and its own attributes', async () => {
    await using harness = await createHarness();
    harness.sh(`mkdir app; cd app; ${INIT}`);
    await harness.capture();
    const parts = new Set<string>();
    const states = [
      'git config core.autocrlf INPUT',
      'git config core.eol crlf; git config core.fileMode no',
      "git config core.symlinks false; git config core.autocrlf ''",
      `printf '[core]\\n\\tautocrlf\\n\\teol = odd\\n' >>.git/config`,
      'git config extensions.worktreeConfig true; git config --worktree core.eol native',
      `echo '*.txt text eol=crlf' >.git/info/attributes`,
      `echo '*.txt -text' >.git/info/attributes`,
      'ln -sf ../config .git/info/attributes',
      'rm .git/info/attributes; yes | head -c 1048577 >.git/info/attributes',
      'truncate -s 1048576 .git/info/attributes',
      'rm .git/info/attributes',
    ];
    for (const state of states) {
      harness.sh(state, 'app');
      const { repositories } = await harness.capture();
      const meta = repositories[0]?.meta ?? '';
      for (const part of harness
        .sh(`git --git-dir=.agent-shadow/session-s1 ls-tree --name-only ${meta}`, 'app')
        .split('\n'))
        parts.add(part);
    }
    expect([...parts]).toEqual(expect.arrayContaining(['settings', 'attributes']));
  });
});

describe('native captures', () => {
  test.for(sampled(GIT_CASES, { every: 12, offset: printedSeed('native captures'), minimum: 3 }))(
    'are where the restores of the scripts start and go: $name',
    async ({ setup, damage, options }) => {
      await using harness = await createHarness(options);
      mkdirSync(`${harness.root}/app`);
      harness.sh(INIT, 'app');
      harness.sh(setup, 'app');
      const first = await harness.capture();
      await harness.capture();
      harness.sh(damage, 'app');
      const second = await harness.capture();
      expect((await harness.rollback(first)).report.outcome).toBe('applied');
      await harness.capture();
      expect((await harness.rollback(second)).report.outcome).toBe('applied');
      await harness.capture();
    },
  );
});
