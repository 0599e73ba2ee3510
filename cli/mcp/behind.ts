/** The end of the server that `walkback mcp` stands before. Whatever it still writes then belongs into the last checkpoint. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** A client of MCP waits two seconds for us to end, and kills us after two more. */
const PATIENCE_MS = 1000;

/** Resolves with its exit code or signal when it has ended and what it said was read. */
export const endOf = async (child: ChildProcess): Promise<string> => {
  const closed = once(child, 'close').catch(() => undefined);
  const [code, signal]: unknown[] = await once(child, 'exit');
  // Something that it left behind may hold on to its output.
  await Promise.race([closed, delay(PATIENCE_MS, undefined, { ref: false })]);
  return String(code ?? signal);
};

/** As a client ends a server: closes its input, then asks it to end, then kills it. */
export const stopServer = async (child: ChildProcess, over: Promise<unknown>): Promise<void> => {
  child.stdin?.end();
  // It did not start.
  if (child.pid === undefined) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const isOver = await Promise.race([over.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
    if (isOver) return;
    child.kill(signal);
  }
  await over;
};
