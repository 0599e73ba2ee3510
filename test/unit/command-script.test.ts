/** The script that runs one command of an agent, by itself. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

const SCRIPT = join(PROJECT, 'sandbox/check/command.sh');

const ENV = {
  PATH: process.env['PATH'] ?? '',
  WB_MARK: 'mark',
  WB_COMMAND: ':',
  WB_DIRECTORY: '.',
  WB_SECONDS: '10',
  WB_HEAD: '100',
  WB_TAIL: '100',
  WB_MOST: '1000',
  // No process that takes time to start, and no profile of the user.
  'BASH_FUNC_timeout%%': '() { :; }',
};

const told = (text: string): string[] => {
  const [, answer = ''] = text.split('mark\n');
  return Buffer.from(answer, 'base64').toString().split('\0');
};

test('a command that ends before its watcher has begun is answered', () => {
  for (let n = 0; n < 40; n += 1) {
    const answer = told(execFileSync('bash', [SCRIPT], { env: ENV, encoding: 'utf8' }));
    expect(answer).toEqual(['status', '0', 'milliseconds', expect.any(String), 'whole', '', 'end', '', '']);
  }
});

test('bash of before 5, which has no EPOCHREALTIME, tells how long a command took', () => {
  // Without its meaning, it is a variable that is not set.
  const text = execFileSync('bash', ['-c', 'unset EPOCHREALTIME; . "$0"', SCRIPT], {
    env: ENV,
    encoding: 'utf8',
  });
  const took = expect.stringMatching(/^\d+$/);
  expect(told(text)).toEqual(['status', '0', 'milliseconds', took, 'whole', '', 'end', '', '']);
});
