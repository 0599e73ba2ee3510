/** Records of the Sagas table's stream as changes of heads; other items are no news. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { HeadChange } from '../../../core/saga/run/publish-saga-changes.ts';
import type { StreamRecord } from '../sessions/stream-records.ts';
import { readHead } from './saga-items.ts';

type Image = NonNullable<StreamRecord['dynamodb']>['NewImage'];

const headIn = (image: Image): SagaHead | undefined => {
  if (image === undefined || Object.keys(image).length === 0) return undefined;
  const item: Record<string, unknown> = unmarshall(image);
  if (item['sk'] !== 'HEAD') return undefined;
  // A stream record that travelled as JSON carries bytes as base64.
  const { effects } = item;
  return readHead(typeof effects === 'string' ? { ...item, effects: Buffer.from(effects, 'base64') } : item);
};

export const toHeadChange = (record: StreamRecord): HeadChange => {
  const before = headIn(record.dynamodb?.OldImage);
  const after = headIn(record.dynamodb?.NewImage);
  return {
    id: record.eventID ?? record.dynamodb?.SequenceNumber ?? '',
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
};
