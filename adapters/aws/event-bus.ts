/** Events on an EventBridge bus: `source` walkback, `detail-type` the event's name. */

import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { EventBus, WalkbackEvent } from '../../core/shared/events.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { calling } from './errors.ts';

const SERVICE = 'EventBridge';
/** Most entries of one call, and most bytes of all together: 256 KB, minus what the service counts for itself. */
const MAX_ENTRIES = 10;
const MAX_CALL_BYTES = 240 * 1024;

/** Splits entries into calls, in order, with as many entries in each as it accepts. */
const callsOf = <Entry extends { Detail: string }>(entries: readonly Entry[]): Entry[][] => {
  const calls: Entry[][] = [];
  let roomBytes = 0;
  for (const entry of entries) {
    const sizeBytes = Buffer.byteLength(entry.Detail);
    const call = calls.at(-1);
    if (call !== undefined && call.length < MAX_ENTRIES && sizeBytes <= roomBytes) {
      call.push(entry);
      roomBytes -= sizeBytes;
    } else {
      calls.push([entry]);
      roomBytes = MAX_CALL_BYTES - sizeBytes;
    }
  }
  return calls;
};

export const createEventBus = (options: { busName: string; client?: EventBridgeClient }): EventBus => {
  const client = options.client ?? new EventBridgeClient(CLIENT_DEFAULTS);

  const entryOf = ({ id, name, at, detail }: WalkbackEvent) => ({
    EventBusName: options.busName,
    Source: 'walkback',
    DetailType: name,
    Time: new Date(at),
    Detail: JSON.stringify({ eventId: id, ...detail }),
  });
  type Entry = ReturnType<typeof entryOf>;

  const send = async (Entries: Entry[]): Promise<void> => {
    const answer = await calling(SERVICE, () => client.send(new PutEventsCommand({ Entries })));
    if ((answer.FailedEntryCount ?? 0) === 0) return;
    const code = answer.Entries?.find(({ ErrorCode }) => ErrorCode !== undefined)?.ErrorCode;
    throw new WalkbackError('StorageUnavailable', `EventBridge did not take every event (${code}).`, {
      retryable: true,
    });
  };

  return {
    publish: async (events) => {
      for (const call of callsOf(events.map(entryOf))) await send(call);
    },
  };
};
