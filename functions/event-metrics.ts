import type { EventBus, WalkbackEvent } from '../core/shared/events.ts';
import type { Telemetry } from './runtime.ts';

/** Counts what was told, by the event's name; a checkpoint that misses something counts once more. */
export const countingEvents = (events: EventBus, { measure }: Telemetry): EventBus => ({
  publish: async (told: WalkbackEvent[]) => {
    await events.publish(told);
    for (const { name, detail } of told) {
      measure(name, 1);
      if (name === 'checkpoint.created' && detail['complete'] === false) measure('checkpoint.incomplete', 1);
    }
  },
});
