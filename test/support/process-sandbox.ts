/** An ExecutionAdapter over plain processes and files: for tests of the program without a sandbox in between. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';

export interface ProcessSandbox extends ExecutionAdapter {
  /** Number of calls so far: each is one round trip. */
  calls: number;
  /** Called before each command with the number of the call: what the agent does meanwhile. */
  beforeRun?: (call: number) => void;
}

export const processSandbox = (
  env: Record<string, string>,
  prefix: string[] = [],
  shell = '/bin/bash',
): ProcessSandbox => {
  const sandbox: ProcessSandbox = {
    sandboxId: 'process',
    calls: 0,
    run: (command, options) => {
      sandbox.calls += 1;
      sandbox.beforeRun?.(sandbox.calls);
      return new Promise((resolve, reject) => {
        const words = [...prefix, shell, '-c', command];
        const child = spawn('/usr/bin/env', words, {
          cwd: options.cwd,
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        let stdout = '';
        let stderr = '';
        let pending = '';
        child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
          stdout += chunk;
          pending += chunk;
          const lines = pending.split('\n');
          pending = lines.pop() ?? '';
          try {
            for (const line of lines) options.onLine?.(line);
          } catch (error) {
            reject(error);
          }
        });
        let pendingError = '';
        child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
          stderr += chunk;
          const lines = (pendingError + chunk).split('\n');
          pendingError = lines.pop() ?? '';
          for (const line of lines) options.onErrorLine?.(line);
        });
        child.on('error', reject);
        child.on('close', (code) => resolve({ exitCode: code ?? -1, stdout, stderr }));
      });
    },
    writeFiles: async (files) => {
      sandbox.calls += 1;
      for (const file of files) {
        await mkdir(dirname(file.path), { recursive: true });
        await writeFile(file.path, file.data);
      }
    },
    writeStream: async (path, data) => {
      sandbox.calls += 1;
      await mkdir(dirname(path), { recursive: true });
      await pipeline(data, createWriteStream(path));
    },
    readFile: async (path) => {
      sandbox.calls += 1;
      return new Uint8Array(await readFile(path));
    },
    readStream: async (path) => {
      sandbox.calls += 1;
      const file = createReadStream(path);
      await once(file, 'open');
      return Readable.toWeb(file) as ReadableStream<Uint8Array>;
    },
  };
  return sandbox;
};
