/** The part of the composition root that wires the event bus. */

import { createEventBus } from '../adapters/aws/event-bus.ts';
import type { EventBus, WalkbackEvent } from '../core/shared/events.ts';
import { type Runtime, required, type Telemetry } from './runtime.ts';

/** Counts published events by name. An incomplete checkpoint counts once more. */
const countingEvents = (events: EventBus, { measure }: Telemetry): EventBus => ({
  publish: async (told: WalkbackEvent[]) => {
    await events.publish(told);
    for (const { name, detail } of told) {
      measure(name, 1);
      const seconds = detail['secondsToReconcile'];
      if (typeof seconds === 'number') measure('saga.secondsToReconcile', seconds);
      if (name === 'checkpoint.created' && detail['complete'] === false) measure('checkpoint.incomplete', 1);
    }
  },
});

export const eventBus = ({ env, telemetry }: Runtime): EventBus =>
  countingEvents(createEventBus({ busName: required(env, 'WALKBACK_EVENT_BUS') }), telemetry);
