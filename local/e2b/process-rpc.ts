/** The remote procedures of `process.Process`. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import * as z from 'zod';
import { ConnectFailure, endEnvelope, parseEnvelope, parseJson } from './connect-rpc.ts';
import { commandEnvironment, type Environment } from './environment.ts';
import { isMissing, words } from './errno.ts';
import { expand, HOME, resolvePath } from './paths.ts';
import { notStarted, type ProcessConfig } from './processes.ts';
import type { Sandbox } from './registry.ts';
import { checkUser } from './user.ts';

/** The call that reports its failures in its stream. */
export const START = '/process.Process/Start';

const DEFAULT_KEEPALIVE_SECONDS = 90;

const startRequest = z.object({
  process: z.object({
    cmd: z.string().min(1),
    args: z.array(z.string()).default([]),
    envs: z.record(z.string(), z.string()).default({}),
    cwd: z.string().optional(),
  }),
  stdin: z.boolean().default(false),
});

const signalRequest = z.object({
  process: z.object({ pid: z.int() }),
  signal: z.enum(['SIGNAL_SIGKILL', 'SIGNAL_SIGTERM']),
});

const positive = (text: string | null): number | undefined => {
  const value = Number(text ?? '');
  return Number.isInteger(value) && value > 0 ? value : undefined;
};

const parse = <T>(schema: z.ZodType<T>, message: unknown): T => {
  const parsed = schema.safeParse(message);
  if (!parsed.success) throw new ConnectFailure('invalid_argument', z.prettifyError(parsed.error));
  return parsed.data;
};

/**
 * The directory of a process. Throws an error of its own when there is none, and that of a failed start when
 * it cannot be entered.
 */
const workingDirectory = async (sandbox: Sandbox, config: ProcessConfig): Promise<string> => {
  const cwd = expand(config.cwd ?? HOME);
  try {
    const directory = await resolvePath(cwd, sandbox.root);
    if (!(await stat(directory)).isDirectory()) throw notStarted(config, 'not a directory');
    await access(directory, constants.X_OK);
    return directory;
  } catch (error) {
    if (isMissing(error)) throw new ConnectFailure('invalid_argument', `cwd '${cwd}' does not exist`);
    if (error instanceof ConnectFailure && error.code !== 'permission_denied') throw error;
    // A directory outside of the sandbox does not exist for a process either.
    throw notStarted(config, error instanceof ConnectFailure ? 'permission denied' : words(error));
  }
};

const deadlineOf = (request: Request): number | undefined => {
  const text = request.headers.get('connect-timeout-ms');
  if (text !== null && !/^\d+$/.test(text))
    throw new ConnectFailure(
      'invalid_argument',
      `parse timeout: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return positive(text);
};

const start = async (sandbox: Sandbox, server: Environment, request: Request) => {
  checkUser(request);
  const message = parse(startRequest, parseEnvelope(new Uint8Array(await request.arrayBuffer())));
  if (message.stdin) throw new ConnectFailure('unimplemented', 'stdin is not supported by the local sandbox');
  const timeoutMs = deadlineOf(request);
  const config = message.process;
  const directory = await workingDirectory(sandbox, config);
  return sandbox.processes.start(config, {
    directory,
    environment: commandEnvironment(sandbox.record, sandbox.root.rootfs, server, config.envs),
    timeoutMs,
    keepaliveMs:
      (positive(request.headers.get('keepalive-ping-interval')) ?? DEFAULT_KEEPALIVE_SECONDS) * 1000,
  });
};

const STREAM_HEADERS = { 'content-type': 'application/connect+json' };

/** A streaming call answers 200 even when it fails: the failure is its only envelope. */
const answerStart = async (sandbox: Sandbox, server: Environment, request: Request): Promise<Response> => {
  try {
    return new Response(await start(sandbox, server, request), { headers: STREAM_HEADERS });
  } catch (error) {
    if (!(error instanceof ConnectFailure)) throw error;
    return new Response(endEnvelope(error), { headers: STREAM_HEADERS });
  }
};

const sendSignal = async (sandbox: Sandbox, request: Request): Promise<Response> => {
  const message = parse(signalRequest, parseJson(await request.text()));
  sandbox.processes.signal(message.process.pid, message.signal === 'SIGNAL_SIGKILL' ? 'SIGKILL' : 'SIGTERM');
  return Response.json({});
};

const listed = (sandbox: Sandbox): object => {
  const processes = sandbox.processes.list();
  return processes.length === 0 ? {} : { processes };
};

export const processCall = async (
  method: string,
  sandbox: Sandbox,
  server: Environment,
  request: Request,
): Promise<Response> => {
  switch (method) {
    case 'Start':
      return answerStart(sandbox, server, request);
    case 'SendSignal':
      return sendSignal(sandbox, request);
    case 'List':
      return Response.json(listed(sandbox));
    default:
      throw new ConnectFailure('unimplemented', `process.Process/${method} is not supported locally`);
  }
};
