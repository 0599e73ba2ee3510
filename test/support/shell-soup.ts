/** Random scripts, run by a real bash: what the classifier calls a read makes no file. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { isReadOnlyShell } from '../../client/classify-shell.ts';

/** Pieces of the shell's language, among them the one command that makes a file. Nothing here harms anything outside of the directory. */
const PIECES =
  'ls|touch made|echo|cat a|sort|sort -o made a|awk|sed -n|grep a|tee made|a|b|-o|-l|$x|"$x"|${x}|${x:-|}|$(|)|`|"|\'|\\|\n|;|;;| |  |&&|||&|>made|>>made|>/dev/null|2>&1|>&made|<a|<<E|\nE\n|<<<|<(|>(|{|( |#|!|if|then|fi|else|for x in|do|done|while false|case a in|esac|x=|[[|]]|[ |]|*|?|{a,b}|=|$((|))|1|p|1p|s/a/b/w made|{print > "made"}|w made|time|command|timeout 5|xargs|$[|%n|printf|test'
    .split('|')
    .flatMap((piece) => (piece === '' ? ['|'] : [piece]));

const soup = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom('', ' ', ' ')), { minLength: 1, maxLength: 9 })
  .map((pieces) => pieces.map(([piece, space]) => piece + space).join(''));

const filesAfter = (directory: string, script: string): string[] => {
  spawnSync('bash', ['--norc', '-c', script], {
    cwd: directory,
    env: { PATH: '/usr/bin:/bin', HOME: directory, x: '-o made' },
    stdio: 'ignore',
    timeout: 10_000,
  });
  return readdirSync(directory);
};

/** Runs so many scripts that are called reads, and answers how many there were. Throws the first that is none. */
export const runReads = (seed: number, runs: number): number => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-soup-'));
  writeFileSync(join(directory, 'a'), 'a\n');
  writeFileSync(join(directory, 'b'), 'b\n');
  try {
    const scripts = new Set(fc.sample(soup, { seed, numRuns: runs }).filter(isReadOnlyShell));
    for (const script of scripts) {
      const after = filesAfter(directory, script);
      if (after.join() !== 'a,b')
        throw new Error(`seed ${seed}: ${JSON.stringify(script)} left ${after.join()}`);
    }
    return scripts.size;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
