/** Events on an EventBridge bus: `source` walkback, `detail-type` the event's name. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { WalkbackEvent } from '../../core/checkpoint/events.ts';
import { WalkbackError } from '../../core/errors.ts';
import type { Events } from '../../core/ports.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { calling } from './errors.ts';

const SERVICE = 'EventBridge';
/** The most entries one call takes. */
const MAX_ENTRIES = 10;

export const createEventBus = (options: { busName: string; client?: EventBridgeClient }): Events => {
  const client = options.client ?? new EventBridgeClient(CLIENT_DEFAULTS);

  const send = async (events: WalkbackEvent[]): Promise<void> => {
    const Entries = events.map(({ id, name, at, detail }) => ({
      EventBusName: options.busName,
      Source: 'walkback',
      DetailType: name,
      Time: new Date(at),
      Detail: JSON.stringify({ eventId: id, ...detail }),
    }));
    const answer = await calling(SERVICE, () => client.send(new PutEventsCommand({ Entries })));
    if ((answer.FailedEntryCount ?? 0) === 0) return;
    const code = answer.Entries?.find(({ ErrorCode }) => ErrorCode !== undefined)?.ErrorCode;
    throw new WalkbackError('StorageUnavailable', `EventBridge did not take every event (${code}).`, {
      retryable: true,
    });
  };

  return {
    publish: async (events) => {
      for (let from = 0; from < events.length; from += MAX_ENTRIES) {
        await send(events.slice(from, from + MAX_ENTRIES));
      }
    },
  };
};
