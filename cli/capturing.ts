/** Shows how far a call is that captures a session. */
import { progressWords } from '../present/progress-words.ts';
import type { Run } from './app.ts';
import { watching } from './watching.ts';

/** Runs `work`, a call that captures `sessionId`, and shows what its captures tell meanwhile. */
export const capturing = <T>(
  run: Pick<Run, 'invoke' | 'progress' | 'json'>,
  sessionId: string,
  label: string,
  work: () => Promise<T>,
): Promise<T> =>
  watching(run, label, work, async () => {
    const { progress } = await run.invoke('walkback-progress', { sessionId });
    return progress === null ? undefined : progressWords(progress);
  });
