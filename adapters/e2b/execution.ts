/**
 * One sandbox as the core sees it. Every call finds its connection anew, so a stale handle is replaced by
 * itself.
 */
import { AuthenticationError, type Sandbox } from 'e2b';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { classify } from './classify.ts';
import type { Connections } from './connections.ts';
import { runCommand } from './run.ts';
import { classifiedStream, readWhole } from './streams.ts';

const UPLOAD_TIMEOUT_MS = 5 * 60_000;
const STREAM_TIMEOUT_MS = 15 * 60_000;
const IDLE_TIMEOUT_MS = 60_000;

/** Characters whose quoting in a multipart file name differs between implementations. */
const AWKWARD_NAME = /["\\\r\n]/;

const bodyOf = (data: Uint8Array | string): Blob | string =>
  typeof data === 'string' ? data : new Blob([new Uint8Array(data)]);

/** The sandbox refused the call before doing anything, because it is not there or needs another token. */
const wasNotAccepted = (error: unknown): boolean =>
  isWalkbackError(error) &&
  error.details['outcome'] === 'nothing-happened' &&
  (error.name === 'SandboxNotFound' || error.cause instanceof AuthenticationError);

export const createExecutionAdapter = (sandboxId: string, connections: Connections): ExecutionAdapter => {
  const attempt = async <T>(operation: (sandbox: Sandbox) => Promise<T>, neededMs: number): Promise<T> => {
    const { sandbox } = await connections.get(sandboxId, neededMs);
    try {
      return await operation(sandbox);
    } catch (error) {
      if (wasNotAccepted(error) || isWalkbackError(error, 'SandboxNotFound')) connections.forget(sandboxId);
      throw error;
    }
  };

  /** Runs an operation. When the sandbox did not accept it at all, runs it once more on a new connection. */
  const on = <T>(operation: (sandbox: Sandbox) => Promise<T>, neededMs = 0): Promise<T> =>
    attempt(operation, neededMs).catch((error: unknown) => {
      if (!wasNotAccepted(error)) throw error;
      return attempt(operation, neededMs);
    });

  const classified = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw classify(error, sandboxId);
    });

  const openFile = (sandbox: Sandbox, path: string): Promise<ReadableStream<Uint8Array>> =>
    classified(sandbox.files.read(path, { format: 'stream', streamIdleTimeoutMs: IDLE_TIMEOUT_MS }));

  return {
    sandboxId,

    run: (command, options) => on((sandbox) => runCommand(sandbox, command, options), options.timeoutMs),

    async writeFiles(files) {
      if (files.length === 0) return;
      const entries = files.map(({ path, data }) => ({ path, data: bodyOf(data) }));
      const options = {
        requestTimeoutMs: UPLOAD_TIMEOUT_MS,
        useOctetStream: files.some(({ path }) => AWKWARD_NAME.test(path)),
      };
      await on((sandbox) => classified(sandbox.files.writeFiles(entries, options)));
    },

    async writeStream(path, data) {
      const options = { useOctetStream: true, signal: AbortSignal.timeout(STREAM_TIMEOUT_MS) };
      // Not tried again, because the part of the stream that was read cannot be read twice.
      await attempt((sandbox) => classified(sandbox.files.write(path, data, options)), 0);
    },

    readFile: (path, maxBytes) =>
      on(async (sandbox) => {
        const content = classifiedStream(await openFile(sandbox, path), sandboxId);
        return readWhole(content, maxBytes, path);
      }),

    readStream: (path) => on(async (sandbox) => classifiedStream(await openFile(sandbox, path), sandboxId)),
  };
};
