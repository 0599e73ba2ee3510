/** The end of a process in which a function of one's own waits for another process. */
import type { Cloud } from '../../local/cloud.ts';

/** Of a cloud that is closed: only the end of the process ends such a function, and an ordinary one would wait with it. */
export const endWhenStuck = (cloud: Pick<Cloud, 'isStuck'>): void => {
  if (cloud.isStuck()) process.once('exit', () => process.kill(process.pid, 'SIGKILL'));
};
