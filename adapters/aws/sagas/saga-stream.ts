/** Turns records of the Sagas table's stream into changes of heads. Other items are ignored. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { MovedSaga } from '../../../core/saga/ledger/export-ledger.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { HeadChange } from '../../../core/saga/people/publish-saga-changes.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import type { StreamRecord } from '../sessions/stream-records.ts';
import { isNewer, readHead } from './saga-items.ts';

type Image = NonNullable<StreamRecord['dynamodb']>['NewImage'];

/** A record that was sent as JSON carries bytes as base64. */
const withBytes = (image: NonNullable<Image>): NonNullable<Image> =>
  Object.fromEntries(
    Object.entries(image).map(([name, value]) => {
      const bytes: unknown = value.B;
      return [name, typeof bytes === 'string' ? { B: Buffer.from(bytes, 'base64') } : value];
    }),
  );

/** The head in an image. `unreadable` when it is not what we wrote: a reader of the item itself gets an error. */
const headIn = (image: Image): SagaHead | 'unreadable' | undefined => {
  if (image === undefined || Object.keys(image).length === 0) return undefined;
  const item: Record<string, unknown> = unmarshall(withBytes(image));
  if (item['sk'] !== 'HEAD') return undefined;
  try {
    return readHead(item);
  } catch (error) {
    // The head of a newer release is tried again, until that release is deployed again.
    if (!isWalkbackError(error, 'LedgerBroken') || isNewer(item)) throw error;
    return 'unreadable';
  }
};

const PREFIX = 'SAGA#';
const sagaIdOf = (pk: string): string | undefined =>
  pk.startsWith(PREFIX) ? pk.slice(PREFIX.length) : undefined;

/** Which saga's head changed. The head is not read: the ledger says what became of the saga. */
export const toMovedSaga = (record: StreamRecord): MovedSaga => {
  const id = record.eventID ?? record.dynamodb?.SequenceNumber ?? '';
  const { pk, sk } = record.dynamodb?.NewImage ?? {};
  const sagaId = sk?.S === 'HEAD' ? sagaIdOf(pk?.S ?? '') : undefined;
  return sagaId === undefined ? { id } : { id, sagaId };
};

/** A change that cannot be read counts as no change, because it must not hold up all later ones. */
export const toHeadChange = (record: StreamRecord): HeadChange => {
  const id = record.eventID ?? record.dynamodb?.SequenceNumber ?? '';
  const before = headIn(record.dynamodb?.OldImage);
  const after = headIn(record.dynamodb?.NewImage);
  if (before === 'unreadable' || after === 'unreadable') return { id };
  return {
    id,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
};
