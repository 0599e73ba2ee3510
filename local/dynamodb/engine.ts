/**
 * A dynoxide process that no other process can reach: it opens no port. Its HTTP server would accept any
 * request with any signature, and a loopback port is open to every user of the machine. So its data is
 * reached only through the pipe of its standard input (`dynoxide mcp`: one JSON-RPC message per line). It
 * ends when the pipe is closed, also after a `kill -9` of our process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import { eachLine } from '../each-line.ts';

const START_TIMEOUT_MS = 15_000;
/** How long it may take to end after its pipe was closed. */
const STOP_TIMEOUT_MS = 5_000;
const PROTOCOL_VERSION = '2025-06-18';

/** A message without an id is a notice, which nobody waits for. */
const answerSchema = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
const toolsSchema = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      inputSchema: z.object({ properties: z.record(z.string(), z.unknown()).default({}) }),
    }),
  ),
});
const calledSchema = z.object({
  content: z.array(z.object({ text: z.string() })).min(1),
  isError: z.boolean().default(false),
});

export interface Engine {
  /** The names of its operations, with the names of their parameters. */
  operations: ReadonlyMap<string, ReadonlySet<string>>;
  /** Answers the JSON text, and whether it is an error. Rejects when the process has ended. */
  call(operation: string, parameters: object): Promise<{ text: string; failed: boolean }>;
  /** Resolves when the process has ended, with the reason. */
  ended: Promise<string>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The last lines on its standard error, for the message when it ends. */
const lastWords = (child: ChildProcess): (() => string) => {
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-4_000);
  });
  return () => words.trim();
};

const createPipe = (path: string, file: string) => {
  // A process group of its own: Ctrl-C in a terminal reaches only us, and we close the pipe when we are done
  // with it.
  const child = spawn(path, ['mcp', '--db-path', file], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const said = lastWords(child);
  const waiting = new Map<number, Waiting>();
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  let failure: Error | undefined;
  let last = 0;

  const fail = (how: string): void => {
    failure ??= new WalkbackError('ConfigurationError', `DynamoDB (dynoxide) ${how}: ${said()}`);
    for (const one of waiting.values()) one.reject(failure);
    waiting.clear();
    end(failure.message);
  };
  child.on('error', (error) => fail(`could not be started (${error.message})`));
  child.on('close', (code, signal) => fail(`ended with ${code ?? signal}`));
  // A failed write shows up as the end of the process.
  child.stdin.on('error', () => undefined);

  const take = (line: string): void => {
    const { id, result, error } = answerSchema.parse(JSON.parse(line));
    if (id === undefined) return;
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new Error(error.message));
  };
  eachLine(child.stdout, (line) => {
    try {
      take(line);
    } catch {
      // This is not an answer. Nobody may be left waiting for an answer that never comes.
      child.kill('SIGKILL');
    }
  });

  const tell = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const ask = (method: string, params: object): Promise<unknown> => {
    if (failure !== undefined) return Promise.reject(failure);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    last += 1;
    waiting.set(last, { resolve, reject });
    tell({ id: last, method, params });
    return promise;
  };
  return {
    tell,
    ask,
    fail,
    ended,
    kill: () => child.kill('SIGKILL'),
    close: async (): Promise<void> => {
      child.stdin.end();
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(late);
    },
  };
};

/**
 * Starts the engine over the tables in `file`, and waits until it answers. Throws `ConfigurationError` with
 * the reason when it does not.
 */
export const startEngine = async (path: string, file: string): Promise<Engine> => {
  const pipe = createPipe(path, file);
  const late = setTimeout(() => {
    pipe.fail(`did not answer within ${START_TIMEOUT_MS / 1000} s`);
    pipe.kill();
  }, START_TIMEOUT_MS);
  try {
    const clientInfo = { name: 'walkback', version: '0' };
    await pipe.ask('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo });
    pipe.tell({ method: 'notifications/initialized' });
    const { tools } = toolsSchema.parse(await pipe.ask('tools/list', {}));
    return {
      operations: new Map(
        tools.map(({ name, inputSchema }) => [name, new Set(Object.keys(inputSchema.properties))]),
      ),
      async call(name, parameters) {
        const answer = calledSchema.parse(await pipe.ask('tools/call', { name, arguments: parameters }));
        return { text: answer.content.map(({ text }) => text).join(''), failed: answer.isError };
      },
      ended: pipe.ended,
      close: pipe.close,
    };
  } catch (error) {
    pipe.kill();
    throw error;
  } finally {
    clearTimeout(late);
  }
};
