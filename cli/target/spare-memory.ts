/** Gives memory back when nobody uses the cloud: a process that is idle never collects by itself. */
import { Session } from 'node:inspector/promises';
import type { Cloud } from '../../local/cloud.ts';

/** A collection takes about 200 ms of processor time. At most once in so long, that is a hundredth of it. */
const QUIET_MS = 20_000;

const collectGarbage = async (): Promise<void> => {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
};

/** Collects once for each time that the cloud is left alone. Returns what ends this. */
export const spareMemory = (
  cloud: Pick<Cloud, 'idleForMs'>,
  { quietMs = QUIET_MS, collect = collectGarbage } = {},
): (() => void) => {
  let isSpared = false;
  const timer = setInterval(() => {
    const isQuiet = cloud.idleForMs() >= quietMs;
    // It only saves memory, so without it the cloud goes on.
    if (isQuiet && !isSpared) void collect().catch(() => undefined);
    isSpared = isQuiet;
  }, quietMs / 4).unref();
  return () => clearInterval(timer);
};
