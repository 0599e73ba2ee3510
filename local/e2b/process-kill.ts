/**
 * Finds and signals every process of a sandbox: the process groups that it started and, where there is /proc,
 * any process that left them (a daemon) but still has the sandbox's id in its environment.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** The variable E2B gives every command too; here it also marks the process. */
export const MARKER = 'E2B_SANDBOX_ID';

/** The process is gone, or belongs to another user (it used sudo). */
const isOutOfReach = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM');

/** False when there is no such process or group that we may signal. */
export const signal = (target: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, name);
  } catch (error) {
    if (isOutOfReach(error)) return false;
    throw error;
  }
};

export const groupIsAlive = (leader: number): boolean => signal(-leader, 0);

const carries = async (pid: string, entry: string): Promise<boolean> => {
  // Empty for zombies and for processes of other users.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(entry);
};

const markedProcesses = async (sandboxId: string): Promise<number[]> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const entry = `${MARKER}=${sandboxId}`;
  const marked = await Promise.all(
    pids.map(async (pid) => ((await carries(pid, entry)) ? [Number(pid)] : [])),
  );
  return marked.flat();
};

/** A killed process has no environment long before it has ended. A zombie has ended, whoever should collect it. */
const hasEnded = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return ['', 'Z', 'X'].includes(stat.split(') ').at(-1)?.[0] ?? '');
};

/** Enough rounds for a process that forks while it is being killed, without trying for ever. */
const ROUNDS = 50;

/** Sends a signal to all processes of a sandbox; SIGKILL again and again, until every marked one has ended. */
export const signalSandbox = async (
  sandboxId: string,
  leaders: readonly number[],
  name: NodeJS.Signals,
): Promise<void> => {
  const killed = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const leader of leaders) signal(-leader, name);
    const marked = (await markedProcesses(sandboxId)).filter((pid) => signal(pid, name));
    if (name !== 'SIGKILL') return;
    for (const pid of marked) killed.add(pid);
    for (const pid of killed) if (await hasEnded(pid)) killed.delete(pid);
    if (marked.length === 0 && killed.size === 0) return;
    // Those that end need a processor, which a busy machine gives them late.
    if (marked.length === 0) await delay(10 * (round + 1));
  }
};
