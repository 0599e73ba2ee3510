/** The remote procedures of `process.Process`. */
import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { ConnectFailure, endEnvelope, parseEnvelope, parseJson } from './connect-rpc.ts';
import { commandEnvironment, type Environment } from './environment.ts';
import { HOME, resolvePath } from './paths.ts';
import type { Sandbox } from './registry.ts';

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

const workingDirectory = async (sandbox: Sandbox, cwd: string): Promise<string> => {
  const directory = await resolvePath(cwd, sandbox.root).catch((cause: unknown) => {
    throw new ConnectFailure('invalid_argument', `cwd '${cwd}' can not be entered`, { cause });
  });
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new ConnectFailure('invalid_argument', `cwd '${cwd}' does not exist`);
  return directory;
};

const start = async (sandbox: Sandbox, server: Environment, request: Request) => {
  const message = parse(startRequest, parseEnvelope(new Uint8Array(await request.arrayBuffer())));
  if (message.stdin) throw new ConnectFailure('unimplemented', 'stdin is not supported by the local sandbox');
  const config = message.process;
  const directory = await workingDirectory(sandbox, config.cwd ?? HOME);
  return sandbox.processes.start(config, {
    directory,
    environment: commandEnvironment(sandbox.record, sandbox.root.rootfs, server, config.envs),
    timeoutMs: positive(request.headers.get('connect-timeout-ms')),
    keepaliveMs:
      (positive(request.headers.get('keepalive-ping-interval')) ?? DEFAULT_KEEPALIVE_SECONDS) * 1000,
  });
};

const STREAM_HEADERS = { 'content-type': 'application/connect+json' };

/** A streaming call answers 200 also when it fails: the failure is its only envelope. */
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
      return Response.json({ processes: sandbox.processes.list() });
    default:
      throw new ConnectFailure('unimplemented', `process.Process/${method} is not supported locally`);
  }
};
