import { createTimeline } from '../core/checkpoint/timeline/timeline.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('timeline', async (runtime) =>
  createTimeline({ store: sessionStore(runtime), clock: runtime.clock }),
);
