/** Turns a stream record of the API into the record that a function gets. Pure. */
import type { AttributeValue, _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams';

/** `AttributeValue` as it is in JSON: bytes are Base64. */
interface EventValue {
  S?: string;
  N?: string;
  SS?: string[];
  NS?: string[];
  BOOL?: boolean;
  NULL?: boolean;
  B?: string;
  BS?: string[];
  L?: EventValue[];
  M?: EventImage;
}
type EventImage = Record<string, EventValue>;

/** One record of the event that Lambda gives a function for a DynamoDB stream. */
export interface EventRecord {
  eventID?: string;
  eventName?: string;
  eventVersion?: string;
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  eventSourceARN: string;
  /** Present when the service removed the item because its time to live had ended. */
  userIdentity?: { type: string; principalId: string };
  dynamodb: {
    /** Unix seconds. */
    ApproximateCreationDateTime: number;
    Keys: EventImage;
    NewImage?: EventImage;
    OldImage?: EventImage;
    SequenceNumber?: string;
    SizeBytes?: number;
    StreamViewType?: string;
  };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const toEventValue = (value: AttributeValue): EventValue => {
  if (value.B !== undefined) return { B: base64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(base64) };
  if (value.L !== undefined) return { L: value.L.map(toEventValue) };
  if (value.M !== undefined) return { M: toEventImage(value.M) };
  const { B: _b, BS: _bs, L: _l, M: _m, $unknown: _unknown, ...plain } = value;
  return plain;
};

const toEventImage = (image: Record<string, AttributeValue>): EventImage =>
  Object.fromEntries(Object.entries(image).map(([name, value]) => [name, toEventValue(value)]));

/** Whether the item had expired when it was removed: then the service removed it. */
const isExpiry = (record: StreamRecord, ttlAttribute: string | undefined): boolean => {
  if (record.eventName !== 'REMOVE' || ttlAttribute === undefined) return false;
  const expiresAt = Number(record.dynamodb?.OldImage?.[ttlAttribute]?.N);
  const removedAt = record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0;
  return expiresAt * 1000 <= removedAt;
};

export const toEventRecord = (
  record: StreamRecord,
  table: { streamArn: string; region: string; ttlAttribute?: string },
): EventRecord => {
  const change = record.dynamodb ?? {};
  return {
    eventID: record.eventID,
    eventName: record.eventName,
    eventVersion: record.eventVersion,
    eventSource: 'aws:dynamodb',
    awsRegion: table.region,
    eventSourceARN: table.streamArn,
    // The emulator has no expiry of its own, so nothing marks these records. AWS's documentation says what
    // the service writes here.
    ...(isExpiry(record, table.ttlAttribute) && {
      userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    }),
    dynamodb: {
      ApproximateCreationDateTime: Math.floor((change.ApproximateCreationDateTime?.getTime() ?? 0) / 1000),
      Keys: toEventImage(change.Keys ?? {}),
      ...(change.NewImage !== undefined && { NewImage: toEventImage(change.NewImage) }),
      ...(change.OldImage !== undefined && { OldImage: toEventImage(change.OldImage) }),
      SequenceNumber: change.SequenceNumber,
      SizeBytes: change.SizeBytes,
      StreamViewType: change.StreamViewType,
    },
  };
};
