/** The real command in its own process, over a data directory of its own, as a person runs it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const LAUNCHER = join(import.meta.dirname, '../../bin/walkback.mjs');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CliScene {
  dataDir: string;
  /** An empty directory, removed at the end. */
  work: string;
  /** Runs one command to its end. */
  run: (args: string[], cwd?: string) => Promise<Ended>;
  /** As `run`, answering stdout, and failing with what the command said when its exit code is not 0. */
  text: (args: string[], cwd?: string) => Promise<string>;
  /** As `text` with `--json`, parsed. */
  json: (args: string[], cwd?: string) => Promise<Record<string, unknown>>;
  /** Starts a command that goes on, and waits for its first line. It is ended with the scene. */
  start(args: string[]): Promise<{ child: ChildProcess; firstLine: string; ended: Promise<number | null> }>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Only what a shell of a newcomer has: nothing of AWS, E2B or Walkback. */
const environment = (home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  NO_COLOR: '1',
  COLUMNS: '80',
  // A daemon would outlive the test; the tests of it turn it on.
  WALKBACK_DAEMON: 'off',
});

const outcome = (error: unknown): Ended => {
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
    const { code, stdout = '', stderr = '' } = error as Error & Partial<Ended> & { code: number };
    return { code, stdout, stderr };
  }
  throw error;
};

/** `more`: variables beside those of a newcomer. */
export const openCliScene = async (more: Record<string, string> = {}): Promise<CliScene> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'walkback-cli-')));
  const dataDir = join(root, 'data');
  const work = join(root, 'work');
  await mkdir(work);
  const env = { ...environment(root), WALKBACK_DATA: dataDir, ...more };
  const running = new Map<ChildProcess, Promise<number | null>>();
  /** What long-running commands said on stderr: a function's own error is in the log of `walkback up`. */
  let background = '';

  const run: CliScene['run'] = async (args, cwd = work) => {
    try {
      const options = { cwd, env, maxBuffer: 64 * 1024 ** 2 };
      return { code: 0, ...(await promisify(execFile)(process.execPath, [LAUNCHER, ...args], options)) };
    } catch (error) {
      return outcome(error);
    }
  };
  const text: CliScene['text'] = async (args, cwd) => {
    const { code, stdout, stderr } = await run(args, cwd);
    if (code === 0) return stdout;
    throw new Error(`walkback ${args.join(' ')} ended with ${code}: ${stderr}${background}`);
  };
  return {
    dataDir,
    work,
    run,
    text,
    json: async (args, cwd) => {
      const answer: Record<string, unknown> = JSON.parse(await text([...args, '--json'], cwd));
      return answer;
    },
    start: async (args) => {
      const child = spawn(process.execPath, [LAUNCHER, ...args], {
        cwd: work,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stderr.on('data', (chunk: Buffer) => (background += chunk.toString()));
      const ended = once(child, 'exit').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
      running.set(child, ended);
      const lines = createInterface({ input: child.stdout });
      const first: unknown[] = await Promise.race([
        once(lines, 'line'),
        ended.then((code) => [`ended with ${code}`]),
      ]);
      return { child, firstLine: String(first[0]), ended };
    },
    [Symbol.asyncDispose]: async () => {
      for (const [child, ended] of running) {
        if (child.exitCode === null) child.kill('SIGTERM');
        await ended;
      }
      await rm(root, { recursive: true, force: true });
    },
  };
};
