/** The part of the composition root that wires the event bus. */

import { createEventBus } from '../adapters/aws/event-bus.ts';
import type { EventBus } from '../core/shared/events.ts';
import { countingEvents } from './event-metrics.ts';
import { type Runtime, required } from './runtime.ts';

export const eventBus = ({ env, telemetry }: Runtime): EventBus =>
  countingEvents(createEventBus({ busName: required(env, 'WALKBACK_EVENT_BUS') }), telemetry);
