/** The times that a look compares, also in bash of before 5. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

/** Before 5.0, bash compared the times of files by whole seconds, and those here are of one: a directory has the same as itself. */
const OLDER = `BASH_VERSION=4.4.20
function [ { case " $* " in *' -nt '* | *' -ot '*) set -- "\${@/*[.]*/.}" ;; esac; builtin [ "$@"; }`;

test.for([
  ['this bash', '', ['another', 'another', 'known', 'another']],
  ['bash 4.4', OLDER, ['another', 'another', 'another', 'another']],
] as const)(
  'an index that may have been written in the same tick is another one: %s',
  ([, before, expected]) => {
    const directory = mkdtempSync(join(tmpdir(), 'walkback-unit-'));
    const known = (index: string, copy: string, mark: string): string =>
      execFileSync(
        'bash',
        [
          '-c',
          `${before}\n. ${PROJECT}/sandbox/capture/host-state.sh; HG=h.git SHADOW=s.git; mkdir -p $HG $SHADOW
touch -d '2030-01-01 00:00:00.${index}' $HG/index; touch -d '2030-01-01 00:00:00.${copy}' $SHADOW/host-index
touch -d '2030-01-01 00:00:00.${mark}' $SHADOW/host-index.mark
if host_index_known; then echo known; else echo another; fi`,
        ],
        { cwd: directory, encoding: 'utf8' },
      ).trim();
    expect([known('1', '2', '5'), known('2', '1', '5'), known('2', '2', '5'), known('2', '2', '2')]).toEqual(
      expected,
    );
    rmSync(directory, { recursive: true });
  },
);

test('without EPOCHREALTIME, the time is that of date', () => {
  const script = `unset EPOCHREALTIME; . ${PROJECT}/sandbox/shared/lib.sh; stopwatch; printf '%s' "$MICROSECONDS"`;
  const before = Date.now();
  const said = execFileSync('bash', ['-c', script, 'walkback', process.env['PATH'] ?? '', '/nowhere'], {
    encoding: 'utf8',
  });
  expect(Number(said) / 1000).toBeGreaterThanOrEqual(before);
  expect(Number(said) / 1000).toBeLessThanOrEqual(Date.now() + 1);
});
