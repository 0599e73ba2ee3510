/** Shows how far a call is that captures or restores a session. */
import { progressWords } from '../present/progress-words.ts';
import type { Run } from './app.ts';
import { watching } from './watching.ts';

/** Runs `work`, a call that captures or restores `sessionId`, and shows what the sandbox tells meanwhile. */
export const withProgress = <T>(
  run: Pick<Run, 'invoke' | 'progress' | 'json'>,
  sessionId: string,
  label: string,
  work: () => Promise<T>,
): Promise<T> =>
  watching(run, label, work, async () => {
    const { progress } = await run.invoke('walkback-progress', { sessionId });
    return progress === null ? undefined : progressWords(progress);
  });
