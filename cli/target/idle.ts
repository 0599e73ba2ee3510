/** Ends a daemon that nobody uses, or whose directory somebody deleted. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cloud } from '../../local/cloud.ts';

/** Somebody who has just read where the cloud answers may take this long to ask. */
const LAST_CALL_MS = 1_000;
const LONGEST_LOOK_MS = 30_000;

type Watched = Pick<Cloud, 'ownsDataDir' | 'idleForMs' | 'conceal' | 'announce'>;

/** Resolves when it is time to end, or when the signal aborts. By then nobody can find the cloud any more. */
export const untilIdle = async (cloud: Watched, idleMs: number, signal: AbortSignal): Promise<void> => {
  const lookMs = idleMs > 0 ? Math.min(idleMs / 4, LONGEST_LOOK_MS) : LONGEST_LOOK_MS;
  while (!signal.aborted) {
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || !(await cloud.ownsDataDir())) return;
    if (idleMs === 0 || cloud.idleForMs() < idleMs) continue;
    await cloud.conceal();
    await delay(LAST_CALL_MS, undefined, { signal }).catch(() => undefined);
    if (cloud.idleForMs() >= idleMs) return;
    // Somebody had found it just before.
    await cloud.announce();
  }
};
