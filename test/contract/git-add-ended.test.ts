/** A signal ends the git that reads the files: a log that is cut while git has it mapped (SIGBUS), or too little memory. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandPath } from '../support/command-path.ts';
import { createHarness } from '../support/git-harness.ts';
import { applies, TWO_FILES } from '../support/git-repositories.ts';

test('a git that a signal ends is no fault of the repository or its shadow', async () => {
  await using place = await createHarness();
  const [bin, armed] = [`${place.top}/bin`, `${place.top}/armed`];
  mkdirSync(bin);
  const shim = `#!/bin/bash\n[ ! -e ${armed} ] || case $1 in add | check-ignore) kill -BUS $$ ;; esac\nexec ${commandPath('git')} "$@"\n`;
  writeFileSync(`${bin}/git`, shim, { mode: 0o755 });
  await using harness = await createHarness({ env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
  mkdirSync(`${harness.root}/app`);
  harness.sh(TWO_FILES, 'app');
  const first = await harness.capture();
  harness.sh('echo two > a.txt', 'app');
  const from = await harness.capture();
  harness.sh('echo three > a.txt; mkdir new; echo new > new/file', 'app');
  writeFileSync(armed, '');
  const { report } = await harness.rollback(first, { from });
  expect([report.outcome, report.problems.map(({ kind }) => kind)]).toEqual(['refused', ['interrupted']]);
  const mark = `${harness.root}/app/.agent-shadow/session-s1/ours`;
  writeFileSync(mark, '');
  await expect(harness.capture()).rejects.toMatchObject({ name: 'SandboxUnavailable', retryable: true });
  expect(existsSync(mark)).toBe(true);
  rmSync(armed);
  harness.standOn(from);
  await applies(harness, first);
});
