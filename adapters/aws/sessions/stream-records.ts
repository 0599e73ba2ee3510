/** Turns records of the Sessions table's stream into changes that the core understands. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ItemChange, StoredItem } from '../../../core/checkpoint/session/session-events.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import {
  readBase,
  readCheckpoint,
  readLink,
  readRehydrate,
  readRollback,
  readSession,
  readUpload,
} from './stored-items.ts';

/** One record, as a Lambda function gets it. */
export interface StreamRecord {
  eventID?: string;
  dynamodb?: {
    SequenceNumber?: string;
    OldImage?: Record<string, AttributeValue>;
    NewImage?: Record<string, AttributeValue>;
  };
}

const storedItem = (item: Record<string, unknown>): StoredItem => {
  const pk = String(item.pk);
  const sk = String(item.sk);
  if (pk.startsWith('BASE#')) {
    const { name, owner, key, sizeBytes, sha256 } = readBase(item);
    return { kind: 'base', name, owner, bundle: { key, sizeBytes, sha256 } };
  }
  if (sk === 'UPLOAD') return { kind: 'upload', upload: readUpload(item) };
  if (sk === 'META') return { kind: 'session', item: readSession(item) };
  if (sk.startsWith('CP#')) return { kind: 'checkpoint', item: readCheckpoint(item) };
  if (sk.startsWith('ROLLBACK#')) return { kind: 'rollback', item: readRollback(item) };
  if (sk.startsWith('REHYDRATE#')) return { kind: 'rehydrate', item: readRehydrate(item) };
  if (sk.startsWith('LINK#')) {
    const { sessionId, chainId, bundle } = readLink(item);
    return { kind: 'link', sessionId, chainId, bundle };
  }
  return { kind: 'other' };
};

/** An item that cannot be read must not hold up all later ones. A reader of the item itself gets an error. */
const readable = (item: Record<string, unknown>): StoredItem => {
  try {
    return storedItem(item);
  } catch (error) {
    if (!isWalkbackError(error, 'ItemUnreadable')) throw error;
    return { kind: 'other' };
  }
};

const image = (attributes: Record<string, AttributeValue> | undefined): StoredItem | undefined =>
  attributes === undefined || Object.keys(attributes).length === 0
    ? undefined
    : readable(unmarshall(attributes));

export const toChange = (record: StreamRecord): ItemChange => ({
  id: record.eventID ?? record.dynamodb?.SequenceNumber ?? '',
  before: image(record.dynamodb?.OldImage),
  after: image(record.dynamodb?.NewImage),
});
