/** Captures while other processes write: a file that is never still costs itself at most, never its repository. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withTwoFiles } from '../support/git-repositories.ts';

/** Real processes that write without a pause until they are ended: over and over, longer and longer, and now here, now gone. */
const WRITERS = [
  // In place, so that what git hashed is not what it then compresses.
  'exec 3<>hot; while :; do for i in $(seq 1 40); do printf "%s" "$RANDOM$RANDOM$RANDOM" >&3; done; exec 3<>hot; : > started-1; done',
  'while :; do head -c 300000 /dev/zero | tr "\\0" "$((RANDOM % 9))" > big.part; mv big.part big; : > started-2; done',
  'while :; do echo "$RANDOM" >> log; : > started-3; done',
  'while :; do mkdir -p come/and/go; echo x > come/and/go/$RANDOM; rm -rf come; : > started-4; done',
];

const untilExists = async (paths: string[]): Promise<void> => {
  while (!paths.every((path) => existsSync(path))) await new Promise((resolve) => setImmediate(resolve));
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  });

test('files that are being written cost themselves at most', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('head -c 3000000 /dev/urandom > hot; echo still > still', 'app');
  await harness.capture();
  const writers = WRITERS.map((script) =>
    spawn('/bin/bash', ['-c', script], { cwd: `${harness.root}/app`, detached: true, stdio: 'ignore' }),
  );
  try {
    await untilExists([1, 2, 3, 4].map((number) => `${harness.root}/app/started-${number}`));
    for (let round = 0; round < 3; round++) {
      harness.sh(`echo ${round} > still`, 'app');
      const { report, repositories } = await harness.capture();
      expect(repositories).toMatchObject([{ path: 'app', state: 'captured' }]);
      for (const { path, reason } of report.failures) {
        expect(path, reason).toMatch(/^app\/(hot|big(\.part)?|log|come.*|started-\d)$/);
      }
      const tree = repositories[0]?.tree ?? '';
      expect(harness.sh(`git --git-dir=.agent-shadow/session-s1 show ${tree}:still`, 'app')).toBe(
        `${round}\n`,
      );
    }
  } finally {
    await Promise.all(writers.map((writer) => ended(writer)));
  }
  const last = await harness.capture();
  expect(last.report.failures).toEqual([]);
});
