/** A program that does not fit into a command is a file of the sandbox: sent once, whole or not at all, and again when it is gone. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { programOf, programPath, startProgram } from '../../adapters/git/deliver-program.ts';
import { requireOutput } from '../../adapters/git/output.ts';
import { restoreScript } from '../../adapters/git/restore-command.ts';
import { MAX_COMMAND_BYTES } from '../../core/checkpoint/ports/sandbox.ts';
import { processSandbox } from '../support/process-sandbox.ts';

const PROGRAM = programOf(Buffer.from(`#!/bin/sh\necho "it runs: $1"\n# ${'-'.repeat(200_000)}\n`));
const COMMAND = `exec ./${programPath(PROGRAM)} "$((20 + 1))"`;
const RUNS = { exitCode: 0, stdout: 'it runs: 21\n' };

const place = (env: Record<string, string> = {}) => {
  const cwd = mkdtempSync(join(tmpdir(), 'walkback-delivery-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const sandbox = processSandbox({ PATH: process.env['PATH'] ?? '', ...env });
  const file = join(cwd, programPath(PROGRAM));
  return {
    cwd,
    sandbox,
    file,
    directory: join(file, '..'),
    start: () => startProgram(sandbox, PROGRAM, COMMAND, { cwd, timeoutMs: 60_000 }),
  };
};

test('it is sent once for a sandbox, as the bytes that its name says', async () => {
  const { sandbox, start, file, directory } = place();
  expect(await start()).toMatchObject({ result: RUNS, roundTrips: 3 });
  expect(readFileSync(file).equals(PROGRAM.data)).toBe(true);
  expect(readdirSync(directory)).toEqual([PROGRAM.sha256]);
  const { calls } = sandbox;
  expect(await start()).toMatchObject({ result: RUNS, roundTrips: 1 });
  expect(sandbox.calls).toBe(calls + 1);
});

test('calls at the same time in a fresh sandbox all start it, and leave nothing else', async () => {
  const { start, directory } = place();
  const all = await Promise.all(Array.from({ length: 6 }, () => start()));
  expect(all.map(({ result }) => result)).toEqual(all.map(() => expect.objectContaining(RUNS)));
  expect(readdirSync(directory)).toEqual([PROGRAM.sha256]);
});

test.for([
  ['gone', (file: string) => rmSync(join(file, '../..'), { recursive: true })],
  ['empty', (file: string) => truncateSync(file)],
  ['cut off', (file: string) => truncateSync(file, 1000)],
  ['another one', (file: string) => writeFileSync(file, '#!/bin/sh\necho other\n')],
] as const)('where it is %s, it is sent again in the same call', async ([, damage]) => {
  const { start, file } = place();
  await start();
  damage(file);
  expect(await start()).toMatchObject({ result: RUNS, roundTrips: 3 });
  expect(await start()).toMatchObject({ result: RUNS, roundTrips: 1 });
});

test('what removes it between its arrival and its start does not end the call', async () => {
  const { sandbox, start, directory } = place();
  // The first command does not find it, and then it arrives.
  sandbox.beforeRun = (call) => {
    if (call === 3) rmSync(directory, { recursive: true });
  };
  expect(await start()).toMatchObject({ result: RUNS, roundTrips: 5 });
});

test('what removes it each time is told as that, and the same call may succeed later', async () => {
  const { sandbox, start, directory } = place();
  sandbox.beforeRun = () => rmSync(directory, { recursive: true, force: true });
  const { result } = await start();
  expect(() => requireOutput(result, 'mark')).toThrow(
    expect.objectContaining({
      name: 'SandboxUnavailable',
      retryable: true,
      message: expect.stringContaining(`the program ${PROGRAM.sha256} is not in .agent-shadow/bin`),
    }),
  );
});

test.for(['.agent-shadow', '.agent-shadow/bin'])('nothing is sent through a symlink: %s', async (name) => {
  const { start, cwd } = place();
  mkdirSync(join(cwd, '.agent-shadow'));
  rmSync(join(cwd, name), { recursive: true, force: true });
  mkdirSync(join(cwd, 'elsewhere'));
  symlinkSync(join(cwd, 'elsewhere'), join(cwd, name));
  const { result } = await start();
  expect(() => requireOutput(result, 'mark')).toThrow(`${join(cwd, name)} is a symlink: remove it`);
  expect(readdirSync(join(cwd, 'elsewhere'))).toEqual([]);
});

test('where there is no sha256sum, the sandbox lacks a tool', async () => {
  const { start } = place({ PATH: '/nowhere' });
  const { result } = await start();
  expect(() => requireOutput(result, 'mark')).toThrow(
    expect.objectContaining({ name: 'SandboxUnsupported', message: expect.stringContaining('sha256sum') }),
  );
});

test('programs of other builds go when they are a day old, and not before', async () => {
  const { start, directory } = place();
  mkdirSync(directory, { recursive: true });
  for (const name of ['recent', 'old']) writeFileSync(join(directory, name), name);
  const before = Date.now() / 1000 - 2 * 86_400;
  utimesSync(join(directory, 'old'), before, before);
  await start();
  expect(readdirSync(directory).toSorted()).toEqual([PROGRAM.sha256, 'recent'].toSorted());
});

test('a command that starts a file is never longer than a command may be', async () => {
  const lengths: number[] = [];
  const { sandbox } = place();
  for (const count of [100, 300, 380, 400, 420, 440, 5000]) {
    const state = { tree: 'a'.repeat(40), meta: 'b'.repeat(40) };
    const repositories = Array.from({ length: count }, (_, n) => ({
      path: `repository-${n}`,
      target: state,
      now: state,
      undo: state,
      commit: null,
      objectFormat: 'sha1' as const,
      bundles: [],
    }));
    const request = {
      sessionId: 's',
      projectsRoot: '/p',
      requestId: 'r',
      repositories,
      filesOnly: false,
      dryRun: false,
    };
    const limits = { include: [], exclude: [], maxFileBytes: 1, maxDepth: 1, timeoutMs: 60_000 };
    const script = restoreScript({ ...request, ...limits, settle: 'nearer' }, 'call', 'mark');
    if (script.program === undefined) throw new Error('it fits into a command');
    const recorded = {
      ...sandbox,
      writeFiles: async () => undefined,
      run: async (command: string) => {
        lengths.push(Buffer.byteLength(command));
        return {
          exitCode: 127,
          stdout: '',
          stderr: `walkback: the program ${script.program?.sha256} is not in .agent-shadow/bin`,
        };
      },
    };
    await startProgram(recorded, script.program, script.command, { cwd: '/p', timeoutMs: 60_000 });
  }
  expect(lengths).toHaveLength(21);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_COMMAND_BYTES);
  expect(Math.max(...lengths)).toBeGreaterThan(MAX_COMMAND_BYTES - 20_000);
});
