/** Stores searches for a fault in the Sessions table: one item each, fenced by its attempt. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { SearchJournal, SearchStore } from '../../../core/checkpoint/ports/searches.ts';
import { hasAttempt, isNew } from '../conditions.ts';
import { documentClient } from '../document-client.ts';
import { createTable } from '../table.ts';
import { reader } from './item-reader.ts';
import { searchKey } from './session-keys.ts';
import { transactSession } from './store-sessions.ts';

const count = z.number().int().min(0);
const ref = { sessionId: z.string(), seq: count };

const journal = () =>
  z.looseObject({
    sessionId: z.string(),
    requestId: z.string(),
    requestHash: z.string(),
    good: z.looseObject(ref),
    bad: z.looseObject(ref),
    attempt: count,
    probes: z.array(
      z.looseObject({
        ...ref,
        checkpointId: z.string(),
        state: z.string(),
        copy: z.string(),
        result: z
          .looseObject({
            verdict: z.enum(['good', 'bad', 'skipped']),
            exitCode: z.number().nullable(),
            milliseconds: count,
          })
          .optional(),
      }),
    ),
    left: count,
    updatedAt: z.string(),
    expiresAt: z.number(),
  });

const readSearch = reader<SearchJournal>(journal);

export const createSearchStore = (options: { tableName: string; client?: DynamoDBClient }): SearchStore => {
  const table = createTable(documentClient(options.client), options.tableName);

  const write = async (search: SearchJournal, condition: typeof isNew): Promise<boolean> => {
    const item = { ...searchKey(search.sessionId, search.requestId), ...search };
    return (await transactSession(table, [{ item, condition }])).written;
  };

  return {
    getSearch: async (sessionId, requestId) => {
      const item = await table.get(searchKey(sessionId, requestId));
      return item === undefined ? undefined : readSearch(item);
    },
    createSearch: (search) => write(search, isNew),
    moveSearch: (search, expectedAttempt) => write(search, hasAttempt(expectedAttempt)),
  };
};
