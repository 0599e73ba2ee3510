/**
 * What the command itself costs beside a cloud that runs. Its floor is a Node that does nothing: git starts in a
 * millisecond, which no program on Node can.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compare } from '../measure.ts';
import { runNode } from '../node.ts';
import { type Row, ratioRow } from '../report.ts';
import type { Benchmark } from './context.ts';

const PROJECT = join(import.meta.dirname, '../..');
const LAUNCHER = join(PROJECT, 'bin/walkback.mjs');
const BUDGET = 10;

const COMMANDS: readonly (readonly string[])[] = [
  ['--version'],
  ['--help'],
  ['session', 'list'],
  ['log', '--session', 'measured'],
];

const makeRepository = async (directory: string): Promise<void> => {
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', directory, ...args]);
  await git('init', '-q');
  await git(...identity, 'commit', '-q', '--allow-empty', '-m', 'begin');
};

export const commandBenchmark: Benchmark = {
  name: 'command',
  title: 'the command, beside a cloud in the background (ratio: processor time)',
  run: async ({ place, quick, say }) => {
    const env = {
      WALKBACK_DATA: await place.directory('command-data'),
      WALKBACK_DAEMON: 'on',
      HOME: await place.directory('command-home'),
    };
    const work = await place.directory('command-work/one');
    const walkback = (...args: string[]) => runNode([LAUNCHER, ...args], work, env);
    await makeRepository(work);
    await walkback('up', '--detach');
    try {
      await walkback('session', 'start', '--root', work, '--id', 'measured');
      const rows: Row[] = [];
      for (const command of COMMANDS) {
        const what = `walkback ${command.join(' ')}`;
        say(what);
        const compared = await compare({
          repetitions: quick ? 4 : 20,
          floor: () => runNode(['-e', '0'], work, env),
          subject: () => walkback(...command),
        });
        const row = ratioRow(what, compared, { budget: BUDGET });
        rows.push({ ...row, value: compared.cpuRatio ?? compared.ratio });
      }
      return rows;
    } finally {
      await walkback('down');
    }
  },
};
