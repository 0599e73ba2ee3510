/** A sandbox without a sandbox: commands are processes of this machine. For measuring a command by itself. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CommandResult, ExecutionAdapter } from '../core/checkpoint/ports/sandbox.ts';

const environment = (path = process.env['PATH'] ?? '') => ({
  PATH: path,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
});

/** Runs a text in bash. Rejects when it could not be started. */
const runBash = (
  command: string,
  cwd: string,
  { path, onLine }: { path?: string | undefined; onLine?: ((line: string) => void) | undefined } = {},
): Promise<CommandResult> => {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn('/bin/bash', ['-c', command], {
    cwd,
    env: environment(path),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let pending = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) onLine?.(line);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.on('error', reject);
  child.on('close', (code) => resolve({ exitCode: code ?? -1, stdout, stderr }));
  return promise;
};

/** Runs it and wants it to end well. */
export const mustRun = async (command: string, cwd: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await runBash(command, cwd);
  if (exitCode !== 0) throw new Error(`A command of the benchmark ended with ${exitCode}: ${stderr}`);
  return stdout;
};

const refuse = (): never => {
  throw new Error('The benchmark does not stream files.');
};

/** `path` is asked before every command: where it looks for others. */
export const createProcessSandbox = (path: () => string | undefined = () => undefined): ExecutionAdapter => ({
  sandboxId: 'process',
  run: (command, { cwd = '/', onLine }) => runBash(command, cwd, { path: path(), onLine }),
  writeFiles: async (files) => {
    for (const { path, data } of files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, data);
    }
  },
  readFile: async (path) => new Uint8Array(await readFile(path)),
  writeStream: refuse,
  readStream: refuse,
});
