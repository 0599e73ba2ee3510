/** Where nothing more can be written, git says so in several ways. Then the shadow is not at fault, and it stays. */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { TWO_FILES } from '../support/git-repositories.ts';

/** A git that says this of each command with this word, while the file is there. */
const shim = (word: string, says: string, file: string): string => `#!/bin/sh
if [ -e '${file}' ] && [ "$1" = ${word} ]; then echo "fatal: ${says}" >&2; exit 128; fi
PATH=\${PATH#*:} exec git "$@"
`;

const WORDS = [
  ['add', 'unable to write loose object file: No space left on device'],
  ['add', 'unable to write loose object file: Disk quota exceeded'],
  ['add', "sha1 file 'index.lock' write error. Out of diskspace"],
  ['pack-objects', "sha1 file '<stdout>' write error: Disk quota exceeded"],
] as const;

test.for(WORDS)('%s: %s', async ([word, says]) => {
  await using place = await createHarness();
  const [bin, full] = [`${place.top}/bin`, `${place.top}/full`];
  mkdirSync(bin);
  writeFileSync(`${bin}/git`, shim(word, says, full));
  chmodSync(`${bin}/git`, 0o755);
  await using harness = await createHarness({ env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
  mkdirSync(`${harness.root}/app`);
  harness.sh(TWO_FILES, 'app');
  const first = await harness.capture();
  // A folder that is new makes git look at everything.
  harness.sh(
    'mkdir new; echo two > a.txt; echo new > new/file; echo ours > .agent-shadow/session-s1/mark',
    'app',
  );
  writeFileSync(full, '');
  const { report } = await harness.capture();
  expect(report.failures).toEqual([{ path: 'app', reason: `fatal: ${says}` }]);
  expect(existsSync(`${harness.root}/app/.agent-shadow/session-s1/mark`)).toBe(true);
  rmSync(full);
  harness.standOn(first);
  const next = await harness.capture();
  expect([next.report.failures, next.repositories[0]?.chain]).toEqual([[], 'append']);
});
