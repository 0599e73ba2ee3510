/** Searches in the Sessions table, against a real DynamoDB engine, and their fake. */
import { describe, expect, test } from 'vitest';
import { createSearchStore } from '../../adapters/aws/sessions/search-store.ts';
import type { SearchJournal } from '../../core/checkpoint/ports/searches.ts';
import { createFakeSearches } from '../support/fakes/fake-searches.ts';
import { useSessionsTable } from '../support/sessions-table.ts';

const JOURNAL: SearchJournal = {
  sessionId: 's',
  requestId: 'b1',
  requestHash: 'hash',
  good: { sessionId: 's', seq: 1 },
  bad: { sessionId: 's', seq: 9 },
  attempt: 1,
  probes: [],
  left: 8,
  startedAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: 1_900_000_000,
};

/** As large as a search can become. */
const LARGEST: SearchJournal = {
  ...JOURNAL,
  probes: Array.from({ length: 153 }, (_, at) => ({
    sessionId: 's'.repeat(64),
    seq: at,
    checkpointId: `cp-${String(at).padStart(12, '0')}-0badcafe`,
    state: 'a'.repeat(64),
    copy: `verify-${'b'.repeat(24)}`,
    result: {
      verdict: 'skipped' as const,
      exitCode: null,
      milliseconds: 600_000,
      note: '€'.repeat(300),
      ...(at < 16 && { output: 'x'.repeat(8_300), isCut: true }),
    },
  })),
};

const STORES = {
  'a real engine': () => {
    const table = useSessionsTable();
    return () => createSearchStore({ tableName: table.tableName, client: table.dynamodb });
  },
  memory: () => {
    const searches = createFakeSearches();
    return () => searches;
  },
};

describe.each(Object.entries(STORES))('searches in %s', (_, use) => {
  const store = use();

  test('begin once, and only the newest attempt moves one', async () => {
    expect(await store().getSearch('s', 'b1')).toBeUndefined();
    expect(await store().moveSearch(JOURNAL, 1)).toBe(false);
    expect(await store().createSearch(JOURNAL)).toBe(true);
    expect(await store().createSearch({ ...JOURNAL, left: 1 })).toBe(false);
    const probes = LARGEST.probes.slice(0, 2);
    expect(await store().moveSearch({ ...JOURNAL, attempt: 2, probes }, 1)).toBe(true);
    expect(await store().moveSearch({ ...JOURNAL, left: 0 }, 1)).toBe(false);
    expect(await store().getSearch('s', 'b1')).toEqual({ ...JOURNAL, attempt: 2, probes });
    expect(await store().getSearch('s', 'b2')).toBeUndefined();
    expect(await store().getSearch('t', 'b1')).toBeUndefined();
  });

  test('the largest one fits', async () => {
    const journal = { ...LARGEST, requestId: 'large' };
    expect(await store().createSearch(journal)).toBe(true);
    expect(await store().getSearch('s', 'large')).toEqual(journal);
  });
});
