/** Events from both halves, sent through one bus. */
import type { EventName } from '../../contract/events.ts';

export interface WalkbackEvent {
  /** Id of the change that caused the event: the same on every delivery. */
  id: string;
  name: EventName;
  at: string;
  detail: Record<string, unknown>;
}

/** Where events go. Delivery is at least once; `id` lets a consumer drop duplicates. */
export interface EventBus {
  publish(events: WalkbackEvent[]): Promise<void>;
}
