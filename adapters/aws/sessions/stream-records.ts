/** Records of the Sessions table's stream as changes the core understands. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type {
  ChainLink,
  RehydrateJournal,
  RollbackJournal,
  Session,
  StoredBase,
  StoredUpload,
} from '../../../core/checkpoint/model.ts';
import type { ItemChange, StoredItem } from '../../../core/checkpoint/session/session-events.ts';
import { checkpointFrom, fromItem } from './session-items.ts';

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
    const { name, owner, key, sizeBytes, sha256 } = fromItem<StoredBase>(item);
    return { kind: 'base', name, owner, bundle: { key, sizeBytes, sha256 } };
  }
  if (sk === 'UPLOAD') return { kind: 'upload', upload: fromItem<StoredUpload>(item) };
  if (sk === 'META') return { kind: 'session', item: fromItem<Session>(item) };
  if (sk.startsWith('CP#')) return { kind: 'checkpoint', item: checkpointFrom(item) };
  if (sk.startsWith('ROLLBACK#')) return { kind: 'rollback', item: fromItem<RollbackJournal>(item) };
  if (sk.startsWith('REHYDRATE#')) return { kind: 'rehydrate', item: fromItem<RehydrateJournal>(item) };
  if (sk.startsWith('LINK#')) {
    const { sessionId, chainId, bundle } = fromItem<ChainLink>(item);
    return { kind: 'link', sessionId, chainId, bundle };
  }
  return { kind: 'other' };
};

const image = (attributes: Record<string, AttributeValue> | undefined): StoredItem | undefined =>
  attributes === undefined || Object.keys(attributes).length === 0
    ? undefined
    : storedItem(unmarshall(attributes));

export const toChange = (record: StreamRecord): ItemChange => ({
  id: record.eventID ?? record.dynamodb?.SequenceNumber ?? '',
  before: image(record.dynamodb?.OldImage),
  after: image(record.dynamodb?.NewImage),
});
