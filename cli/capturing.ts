/** Shows how far a call is that captures a session, beside the seconds that it takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { progressWords } from '../present/progress-words.ts';
import type { Run } from './app.ts';

/** Shorter calls ask nothing. */
const QUIET_MS = 2_000;
const EVERY_MS = 1_000;

/** Runs `work`, a call that captures `sessionId`, and shows what its captures tell meanwhile. */
export const capturing = async <T>(
  run: Pick<Run, 'invoke' | 'progress' | 'json'>,
  sessionId: string,
  label: string,
  work: () => Promise<T>,
): Promise<T> => {
  if (run.json) return work();
  let detail: string | undefined;
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    const { signal } = over;
    try {
      await sleep(QUIET_MS, undefined, { signal });
      for (;;) {
        const { progress } = await run.invoke('walkback-progress', { sessionId });
        detail = progress === null ? undefined : progressWords(progress);
        await sleep(EVERY_MS, undefined, { signal });
      }
    } catch {
      // The work is over, or this person may not ask. Either way there is nothing more to show, and the work goes on.
      detail = undefined;
    }
  };
  const watching = watch();
  try {
    return await run.progress(label, work, () => detail);
  } finally {
    over.abort();
    await watching;
  }
};
