/**
 * The end of the server that runs behind `walkback mcp`. What it still writes then belongs into the last
 * checkpoint.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** An MCP client waits two seconds for us to end, and kills us after two more. */
const PATIENCE_MS = 1000;

export interface ServerEnd {
  /** Its exit code, or the name of the signal. */
  how: string;
  /** As in a shell: 128 plus the number of the signal. */
  exitCode: number;
}

/** Resolves when the server has ended and its output was read. */
export const endOf = async (child: ChildProcess): Promise<ServerEnd> => {
  const closed = once(child, 'close').catch(() => undefined);
  const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve) =>
    child.once('exit', (...how) => resolve(how)),
  );
  // A process that it left behind may keep its output open.
  await Promise.race([closed, delay(PATIENCE_MS, undefined, { ref: false })]);
  return {
    how: String(code ?? signal),
    exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
  };
};

/** Stops a server as a client does: closes its input, then asks it to end, then kills it. */
export const stopServer = async (child: ChildProcess, over: Promise<unknown>): Promise<void> => {
  child.stdin?.end();
  // The server did not start.
  if (child.pid === undefined) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const isOver = await Promise.race([over.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
    if (isOver) return;
    child.kill(signal);
  }
  await over;
};
