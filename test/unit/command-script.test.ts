/** The script that runs one command of an agent, by itself. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

const SCRIPT = join(PROJECT, 'sandbox/check/command.sh');

test('a command that ends before its watcher has begun is answered', () => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    WB_MARK: 'mark',
    WB_COMMAND: ':',
    WB_DIRECTORY: '.',
    WB_SECONDS: '10',
    WB_HEAD: '100',
    WB_TAIL: '100',
    WB_MOST: '1000',
    // No process that takes time to start.
    'BASH_FUNC_timeout%%': '() { :; }',
  };
  for (let n = 0; n < 40; n += 1) {
    const [, answer = ''] = execFileSync('bash', [SCRIPT], { env, encoding: 'utf8' }).split('mark\n');
    const told = Buffer.from(answer, 'base64').toString().split('\0');
    expect(told).toEqual(['status', '0', 'milliseconds', expect.any(String), 'whole', '', 'end', '', '']);
  }
});
