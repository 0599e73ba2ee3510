/** Ends a process in which a function of the user's waits for another process. */
import type { Cloud } from '../../local/cloud.ts';

/**
 * For a closed cloud: only the end of the process ends such a function, and an ordinary end would wait for
 * it.
 */
export const endWhenStuck = (cloud: Pick<Cloud, 'isStuck'>): void => {
  if (cloud.isStuck()) process.once('exit', () => process.kill(process.pid, 'SIGKILL'));
};
