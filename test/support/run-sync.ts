/**
 * Runs a program and waits for it, as `execFileSync` does, but from a small process that stays. Node starts a program by
 * forking itself first, and a worker full of tests and SDKs is so large that this takes ten times as long as git.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellQuote } from '../../adapters/git/shell-quote.ts';

/** Ends, and cleans up, when nobody holds the other end of its requests any more, also after `kill -9`. */
const SERVER = `
cd -- "$1" && mkfifo requests replies || exit
{
  exec 3<requests 4>replies
  while IFS= read -r request <&3; do
    (. "./$request.sh") >"$request.out" 2>"$request.err" 3<&- 4>&-
    echo $? >&4
  done
  rm -rf -- "$1"
} </dev/null >/dev/null 2>&1 &
`;

interface Server {
  directory: string;
  requests: number;
  replies: number;
  count: number;
}

let server: Server | undefined;

const start = (): Server => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-run-'));
  execFileSync('/bin/bash', ['--norc', '-c', SERVER, 'run-sync', directory], { stdio: 'ignore' });
  // Both ways, so that opening it waits for nobody.
  const requests = openSync(join(directory, 'requests'), 'r+');
  return { directory, requests, replies: openSync(join(directory, 'replies'), 'r'), count: 0 };
};

const readStatus = (replies: number): number => {
  const bytes = Buffer.alloc(16);
  let text = '';
  while (!text.endsWith('\n')) {
    const count = readSync(replies, bytes);
    if (count === 0) throw new Error('the process that runs programs for tests has ended');
    text += bytes.toString('latin1', 0, count);
  }
  return Number(text);
};

interface RunOptions {
  cwd: string;
  /** All it gets. */
  env: Readonly<Record<string, string>>;
  encoding?: 'utf8' | 'latin1';
}

/** How it ended, and what it wrote. */
export const endOf = (
  program: string,
  args: readonly string[],
  options: RunOptions,
): { status: number; stdout: string; stderr: string } => {
  server ??= start();
  const file = join(server.directory, String((server.count += 1)));
  const environment = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
  const words = ['exec', 'env', '-i', ...environment, program, ...args].map((word) => shellQuote(word));
  writeFileSync(`${file}.sh`, `cd -- ${shellQuote(options.cwd)} && ${words.join(' ')}\n`);
  writeSync(server.requests, `${server.count}\n`);
  const status = readStatus(server.replies);
  const [stdout = '', stderr = ''] = ['out', 'err'].map((end) =>
    readFileSync(`${file}.${end}`, options.encoding ?? 'utf8'),
  );
  for (const end of ['sh', 'out', 'err']) rmSync(`${file}.${end}`);
  return { status, stdout, stderr };
};

/** What it wrote to stdout. Throws with what it wrote to stderr when it did not end with 0. */
export const runSync = (program: string, args: readonly string[], options: RunOptions): string => {
  const { status, stdout, stderr } = endOf(program, args, options);
  if (status === 0) return stdout;
  throw Object.assign(new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`), {
    status,
    stdout,
    stderr,
  });
};
