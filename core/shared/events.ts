/** What both halves tell the outside, through one bus. */
import type { EventName } from '../../contract/events.ts';

export interface WalkbackEvent {
  /** Id of the change it comes from: the same on every delivery. */
  id: string;
  name: EventName;
  at: string;
  detail: Record<string, unknown>;
}

/** Where events go. Delivery is at least once; `id` lets a consumer drop the second. */
export interface EventBus {
  publish(events: WalkbackEvent[]): Promise<void>;
}
