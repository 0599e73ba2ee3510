/** Reads a table's stream from a position, shard after shard. */
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as StreamRecord,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { Position } from './position.ts';

export interface StreamReader {
  /**
   * The next records, oldest first; empty when there are none now. `after` is the position once they are
   * delivered.
   */
  next(limit: number): Promise<{ records: StreamRecord[]; after?: Position }>;
}

export const createStreamReader = (
  streams: DynamoDBStreamsClient,
  streamArn: string,
  start: Position | undefined,
): StreamReader => {
  let shardId = start?.streamArn === streamArn ? start.shardId : undefined;
  let iterator: string | undefined;
  let sequenceNumber = shardId === undefined ? undefined : start?.sequenceNumber;

  const listShards = async (): Promise<Shard[]> =>
    (await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }))).StreamDescription?.Shards ?? [];

  const openAt = async (shard: string, type: 'TRIM_HORIZON' | 'AFTER_SEQUENCE_NUMBER') => {
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn: streamArn,
        ShardId: shard,
        ShardIteratorType: type,
        ...(type === 'AFTER_SEQUENCE_NUMBER' && { SequenceNumber: sequenceNumber }),
      }),
    );
    return ShardIterator;
  };

  const open = async (shard: string): Promise<string | undefined> => {
    if (sequenceNumber === undefined) return openAt(shard, 'TRIM_HORIZON');
    try {
      return await openAt(shard, 'AFTER_SEQUENCE_NUMBER');
    } catch (error) {
      if (!(error instanceof TrimmedDataAccessException)) throw error;
      return openAt(shard, 'TRIM_HORIZON');
    }
  };

  /**
   * An iterator lives only for minutes, while nothing may be read for hours in a cloud in which nothing is
   * written.
   */
  const read = async (shard: string, limit: number) => {
    const get = async () => {
      iterator ??= await open(shard);
      return streams.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: limit }));
    };
    try {
      return await get();
    } catch (error) {
      if (!(error instanceof ExpiredIteratorException)) throw error;
      iterator = undefined;
      return get();
    }
  };

  /** The shard after the one that ended, or the oldest one; undefined when there is none yet. */
  const advance = async (): Promise<void> => {
    const shards = await listShards();
    const at = shards.findIndex((shard) => shard.ShardId === shardId);
    const next = shards[at + 1]?.ShardId;
    if (next === undefined) return;
    shardId = next;
    sequenceNumber = undefined;
  };

  return {
    next: async (limit) => {
      if (shardId === undefined) await advance();
      if (shardId === undefined) return { records: [] };
      const answer = await read(shardId, limit);
      iterator = answer.NextShardIterator;
      const records = answer.Records ?? [];
      sequenceNumber = records.at(-1)?.dynamodb?.SequenceNumber ?? sequenceNumber;
      const after = sequenceNumber === undefined ? undefined : { streamArn, shardId, sequenceNumber };
      // An iterator that ends means that the shard is closed and read to its end.
      if (iterator === undefined) await advance();
      return { records, ...(after !== undefined && { after }) };
    },
  };
};
