/**
 * Finds and signals every process of a sandbox: the process groups that it started and, where there is /proc,
 * any process that left them (a daemon) but still has the sandbox's id in its environment.
 */
import { readdir, readFile } from 'node:fs/promises';

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

/** Enough rounds for a process that forks while it is being killed, without trying for ever. */
const ROUNDS = 50;

/** Sends a signal to all processes of a sandbox; SIGKILL again and again until no marked one is left. */
export const signalSandbox = async (
  sandboxId: string,
  leaders: readonly number[],
  name: NodeJS.Signals,
): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const leader of leaders) signal(-leader, name);
    const marked = (await markedProcesses(sandboxId)).filter((pid) => signal(pid, name));
    if (name !== 'SIGKILL' || marked.length === 0) return;
  }
};
