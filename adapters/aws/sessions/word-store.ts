/**
 * Stores the words of sessions in the Sessions table, in blocks. An index has the blocks of all sessions, in several partitions, so
 * that they are read side by side and no single one is written all the time.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { FoundBlocks, WordBlock, WordStore } from '../../../core/checkpoint/ports/words.ts';
import { sha256Hex } from '../../../core/shared/ids.ts';
import { hasVersion, isNew } from '../conditions.ts';
import { documentClient } from '../document-client.ts';
import { createTable } from '../table.ts';
import { reader } from './item-reader.ts';
import { WORDS_PREFIX, wordsKey } from './session-keys.ts';

const INDEX = { index: 'gsi_words', attribute: 'wordsPart' };
/** Partitions of the index. A page of each, of 1 MB, is read in one search. */
const PARTS = 8;

const count = z.number().int().min(0);
const block = () =>
  z.looseObject({
    sessionId: z.string(),
    number: count,
    version: count,
    lastSeq: count,
    packed: z.instanceof(Uint8Array),
    updatedAt: z.string(),
    expiresAt: z.number(),
  });
const readBlock = reader<WordBlock>(block);

const partOf = (sessionId: string): string =>
  `${Number.parseInt(sha256Hex(sessionId).slice(0, 8), 16) % PARTS}`;

/** What was read of a partition, last written first. */
interface Pages {
  blocks: WordBlock[];
  hasMore: boolean;
}

/**
 * Where some partitions have more, all end at the same time, so that a later call goes on from there. Blocks of just that time are
 * left to it: the partition may have more of them.
 */
const joined = (pages: readonly Pages[]): FoundBlocks => {
  const blocks = pages.flatMap((page) => page.blocks);
  const ends = pages.flatMap((page) => (page.hasMore ? (page.blocks.at(-1)?.updatedAt ?? []) : []));
  if (ends.length === 0) return { blocks };
  const readBackTo = ends.reduce((one, other) => (one > other ? one : other));
  return { blocks: blocks.filter(({ updatedAt }) => updatedAt > readBackTo), readBackTo };
};

export const createWordStore = (options: { tableName: string; client?: DynamoDBClient }): WordStore => {
  const table = createTable(documentClient(options.client), options.tableName);

  return {
    newestBlock: async (sessionId) => {
      const { pk } = wordsKey(sessionId, 0);
      const [item] = await table.query(pk, { prefix: WORDS_PREFIX }, { limit: 1, newestFirst: true });
      return item === undefined ? undefined : readBlock(item);
    },

    putBlock: (one, expectedVersion) => {
      const { sessionId, number } = one;
      const item = { ...wordsKey(sessionId, number), [INDEX.attribute]: partOf(sessionId), ...one };
      const condition = expectedVersion === null ? isNew : hasVersion(expectedVersion);
      return table.putIf(item, condition);
    },

    blocksOf: async (sessionId) => {
      const { pk } = wordsKey(sessionId, 0);
      return (await table.query(pk, { prefix: WORDS_PREFIX })).map(readBlock);
    },

    newestBlocks: async (before) =>
      joined(
        await Promise.all(
          Array.from({ length: PARTS }, async (_, part) => {
            const value = String(part);
            const { items, hasMore } = await table.newest({ ...INDEX, value, sortedBy: 'updatedAt' }, before);
            return { blocks: items.map(readBlock), hasMore };
          }),
        ),
      ),
  };
};
