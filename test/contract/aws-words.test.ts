/** The words of sessions in a real DynamoDB engine: how blocks are written and read, however many there are. */
import { randomBytes } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { createWordStore } from '../../adapters/aws/sessions/word-store.ts';
import type { WordBlock, WordStore } from '../../core/checkpoint/ports/words.ts';
import { withEntries } from '../../core/checkpoint/words/block.ts';
import { wordEntry } from '../../core/checkpoint/words/entry.ts';
import { createKeepWords } from '../../core/checkpoint/words/keep-words.ts';
import { createSearchSessions } from '../../core/checkpoint/words/search-sessions.ts';
import { sealed } from '../../core/shared/cursor.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf } from '../support/session-items.ts';
import { useSessionsTable } from '../support/sessions-table.ts';

const table = useSessionsTable();
const words = (): WordStore => createWordStore({ tableName: table.tableName, client: table.dynamodb });

const at = (second: number): string => new Date(Date.UTC(2026, 0, 2) + second * 1_000).toISOString();

const block = (sessionId: string, number: number, second: number, bytes = 10): WordBlock => ({
  sessionId,
  number,
  version: 1,
  lastSeq: number + 1,
  packed: new Uint8Array(randomBytes(bytes)),
  updatedAt: at(second),
  expiresAt: 2_000_000_000,
});

const namesOf = (blocks: readonly WordBlock[]): string[] =>
  blocks.map(({ sessionId, number }) => `${sessionId}/${number}`).toSorted();

test('a block is created once, and replaced at its version alone', async () => {
  const store = words();
  expect(await store.newestBlock('one')).toBeUndefined();
  const first = block('one', 0, 1);
  expect(await store.putBlock(first, null)).toBe(true);
  expect(await store.putBlock(block('one', 0, 2), null)).toBe(false);
  expect(await store.newestBlock('one')).toEqual({ ...first, wordsPart: expect.any(String) });
  expect(await store.putBlock({ ...first, version: 2 }, 2)).toBe(false);
  expect(await store.putBlock({ ...first, version: 2 }, 1)).toBe(true);
  expect(await store.putBlock(block('one', 1, 3), null)).toBe(true);
  expect(await store.newestBlock('one')).toMatchObject({ number: 1 });
  expect(namesOf(await store.blocksOf('one'))).toEqual(['one/0', 'one/1']);
});

test('an item that is no block is named', async () => {
  const item = { pk: { S: 'SESSION#bad' }, sk: { S: 'WORDS#00000000' }, packed: { S: 'text' } };
  await table.dynamodb.send(new PutItemCommand({ TableName: table.tableName, Item: item }));
  await failing(words().newestBlock('bad'), 'ItemUnreadable');
});

test('more blocks than one search reads: none is missing and none comes twice, page by page', async () => {
  const store = words();
  const made: WordBlock[] = [];
  // Some partitions of the index are over a page of 1 MB, others are not. Several blocks were written at the same time.
  for (let n = 0; n < 90; n += 1)
    made.push(block(`busy-${n % 3}`, Math.floor(n / 3), 10 + Math.floor(n / 2), 60_000));
  for (let n = 0; n < 20; n += 1) made.push(block(`quiet-${n}`, 0, 10 + n));
  for (const one of made) expect(await store.putBlock(one, null)).toBe(true);
  const read: string[] = [];
  let before: string | undefined;
  let pages = 0;
  do {
    const { blocks, readBackTo } = await store.newestBlocks(before);
    for (const { updatedAt } of blocks) {
      expect(updatedAt > (readBackTo ?? '')).toBe(true);
      expect(before === undefined || updatedAt <= before).toBe(true);
    }
    read.push(...namesOf(blocks));
    before = readBackTo;
    pages += 1;
  } while (before !== undefined);
  expect(pages).toBeGreaterThan(1);
  expect(read.filter((name) => !/^(?:one|searched)\//.test(name)).toSorted()).toEqual(namesOf(made));
});

test('a search goes on from its cursor to the end, and takes no cursor of other words', async () => {
  /** Before the blocks of other tests, which hold no words. */
  const before = (seq: number): string => at(seq - 1_000);
  const search = createSearchSessions({
    words: words(),
    store: table.store,
    clock: { now: () => new Date(at(0)), sleep: async () => undefined },
  });
  await table.begin('searched');
  for (let seq = 2; seq < 90; seq += 1) {
    const entry = wordEntry(
      checkpointOf('searched', seq, { createdAt: before(seq), expiresAt: 2_000_000_000 }),
      undefined,
    );
    const title = randomBytes(600).toString('base64');
    const [written] = withEntries(
      { ...block('searched', seq, 0), lastSeq: seq - 1, packed: new Uint8Array(5_000) },
      { sessionId: 'searched', updatedAt: before(seq) },
      [{ ...entry, messageId: `m-${seq}`, message: { role: 'user', title: `needle ${title}` } }],
    );
    if (written !== undefined) await words().putBlock(written.block, null);
  }
  // All of one session is one page, however much there is.
  const own = await search({ words: 'needle', sessionId: 'searched', limit: 200 });
  expect([own.messages.length, own.cursor]).toEqual([88, undefined]);
  await failing(search({ words: 'needle', sessionId: 'searched', cursor: 'x' }), 'InvalidInput');
  await failing(search({ words: 'needle', cursor: sealed('words other').write(before(3)) }), 'InvalidInput');
  const older = await search({
    words: 'needle',
    limit: 200,
    cursor: sealed('words needle').write(before(10)),
  });
  expect(older.messages.map(({ messageId }) => messageId)).toEqual(
    Array.from({ length: 9 }, (_, n) => `m-${10 - n}`),
  );
});

test('deliveries of the same checkpoints at the same time keep each once, and one that fails comes again', async () => {
  const store = words();
  const checkpoints = Array.from({ length: 12 }, (_, n) =>
    checkpointOf('raced', n + 1, { createdAt: at(n), expiresAt: 2_000_000_000 }),
  );
  const changes = checkpoints.map((item) => ({
    id: `${item.seq}`,
    after: { kind: 'checkpoint' as const, item },
  }));
  const log = { info: () => undefined, warn: () => undefined };
  const clock = {
    now: () => new Date(at(100)),
    sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
  };
  const bundles = { get: () => Promise.reject(new Error('nothing is in an object here')) };
  const keep = createKeepWords({ words: store, bundles, clock, log });
  const other = { id: 'x', after: { kind: 'other' as const } };
  expect(
    await Promise.all([
      keep([other, ...changes.slice(0, 8)]),
      keep(changes.slice(0, 8)),
      keep(changes.slice(0, 8)),
    ]),
  ).toEqual([undefined, undefined, undefined]);
  let refused = 0;
  const down: Pick<WordStore, 'newestBlock' | 'putBlock'> = {
    newestBlock: (sessionId) => store.newestBlock(sessionId),
    putBlock: async () => {
      refused += 1;
      throw new Error('down');
    },
  };
  expect(await createKeepWords({ words: down, bundles, clock, log })([other, ...changes.slice(6)])).toBe(1);
  expect(refused).toBe(1);
  expect(await keep([other, ...changes.slice(6)])).toBeUndefined();
  const expected = withEntries(
    undefined,
    { sessionId: 'raced', updatedAt: at(100) },
    checkpoints.map((one) => wordEntry(one, undefined)),
  ).map(({ block: { packed } }) => packed);
  const blocks = await store.blocksOf('raced');
  expect(blocks.map(({ packed }) => Buffer.from(packed))).toEqual(expected);
});
