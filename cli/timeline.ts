import type { TimelineAnswer } from '../contract/checkpoint-answers.ts';
import type { Run } from './app.ts';

const PAGE = 100;

/** The newest `limit` checkpoints, with the cursor for the next ones. */
export const readTimeline = async (
  run: Pick<Run, 'invoke'>,
  sessionId: string,
  limit: number,
): Promise<TimelineAnswer> => {
  let timeline = await run.invoke('walkback-timeline', { sessionId, limit: Math.min(limit, PAGE) });
  while (timeline.cursor !== undefined && timeline.checkpoints.length < limit) {
    const next = await run.invoke('walkback-timeline', {
      sessionId,
      limit: Math.min(limit - timeline.checkpoints.length, PAGE),
      cursor: timeline.cursor,
    });
    timeline = { ...next, checkpoints: [...timeline.checkpoints, ...next.checkpoints] };
  }
  return timeline;
};
