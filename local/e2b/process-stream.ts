/**
 * The event stream of one process, as `process.Process/Start` answers it. A slow reader slows the process
 * down. A reader that has gone does not stop it: its output is thrown away, and its deadline still applies.
 */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { ConnectFailure, endEnvelope, messageEnvelope } from './connect-rpc.ts';

export type CommandProcess = ChildProcessByStdio<null, Readable, Readable>;

/** Bytes that may wait for a slow reader before the process must wait. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Names of the usual signals in Go, in which E2B's daemon is written. */
const SIGNAL_NAMES: Record<string, string> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGHUP: 'hangup',
  SIGSEGV: 'segmentation fault',
  SIGABRT: 'aborted',
  SIGPIPE: 'broken pipe',
};

const endEvent = (code: number | null, signal: NodeJS.Signals | null): unknown => {
  const status = signal === null ? `exit status ${code}` : `signal: ${SIGNAL_NAMES[signal] ?? signal}`;
  // Fields that are zero or false are left out, as in all of the daemon's answers.
  const end = {
    ...(code !== 0 && { exitCode: code ?? -1 }),
    ...(signal === null && { exited: true }),
    status,
  };
  return { event: { end: code === 0 ? end : { ...end, error: status } } };
};

export interface ProcessStream {
  events: ReadableStream<Uint8Array>;
  /** Breaks the connection, as when a sandbox disappears. */
  abort(): void;
}

export const streamProcess = (
  child: CommandProcess,
  { timeoutMs, keepaliveMs }: { timeoutMs: number | undefined; keepaliveMs: number },
): ProcessStream => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const outputs = { stdout: child.stdout, stderr: child.stderr };
  const flow = (): void => Object.values(outputs).forEach((output) => output.resume());
  const hold = (): void => Object.values(outputs).forEach((output) => output.pause());

  /** From here on, nobody listens. */
  const leave = (last?: (to: ReadableStreamDefaultController<Uint8Array>) => void): void => {
    const to = controller;
    controller = undefined;
    clearInterval(keepalive);
    flow();
    if (to !== undefined) last?.(to);
  };
  const finish = (...envelopes: Uint8Array[]): void =>
    leave((to) => {
      for (const envelope of envelopes) to.enqueue(envelope);
      to.close();
    });
  const send = (event: unknown): void => {
    controller?.enqueue(messageEnvelope({ event }));
    if (controller !== undefined && (controller.desiredSize ?? 0) <= 0) hold();
  };

  const expire = (): void => {
    // Like E2B, this ends only the process itself. What it started lives on.
    child.kill('SIGKILL');
    finish(endEnvelope(new ConnectFailure('deadline_exceeded', 'context deadline exceeded')));
  };
  const keepalive = setInterval(() => {
    if ((controller?.desiredSize ?? 0) > 0) send({ keepalive: {} });
  }, keepaliveMs);
  const deadline = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);

  const events = new ReadableStream<Uint8Array>(
    {
      start: (created) => {
        controller = created;
        send({ start: { pid: child.pid } });
        for (const [name, output] of Object.entries(outputs))
          output.on('data', (chunk: Buffer) => send({ data: { [name]: chunk.toString('base64') } }));
        // `close` comes after the last byte of both outputs, which grandchildren may hold open.
        child.on('close', (code, signal) => {
          clearTimeout(deadline);
          finish(messageEnvelope(endEvent(code, signal)), endEnvelope());
        });
      },
      pull: flow,
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_BYTES }),
  );
  return { events, abort: () => leave((to) => to.error(new Error('The sandbox went away.'))) };
};
