/** Shows how far a long call is, beside the seconds that it takes, by asking while it runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './app.ts';

/** Shorter calls ask nothing. */
const QUIET_MS = 2_000;
const EVERY_MS = 1_000;

/** Runs `work`, and shows what `ask` answers meanwhile. */
export const watching = async <T>(
  run: Pick<Run, 'progress' | 'json'>,
  label: string,
  work: () => Promise<T>,
  ask: () => Promise<string | undefined>,
): Promise<T> => {
  if (run.json) return work();
  let detail: string | undefined;
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    const { signal } = over;
    try {
      await sleep(QUIET_MS, undefined, { signal });
      for (;;) {
        detail = await ask();
        await sleep(EVERY_MS, undefined, { signal });
      }
    } catch {
      // The work is over, or this person may not ask. Either way there is nothing more to show, and the work goes on.
      detail = undefined;
    }
  };
  const watched = watch();
  try {
    return await run.progress(label, work, () => detail);
  } finally {
    over.abort();
    await watched;
  }
};
