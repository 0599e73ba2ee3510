import type { WalkbackEvent } from '../core/checkpoint/session/session-events.ts';
import type { Events } from '../core/shared/surroundings.ts';
import type { Telemetry } from './runtime.ts';

/** Counts what was told, by the event's name; a checkpoint that misses something counts once more. */
export const countingEvents = (events: Events, { measure }: Telemetry): Events => ({
  publish: async (told: WalkbackEvent[]) => {
    await events.publish(told);
    for (const { name, detail } of told) {
      measure(name, 1);
      if (name === 'checkpoint.created' && detail['complete'] === false) measure('checkpoint.incomplete', 1);
    }
  },
});
