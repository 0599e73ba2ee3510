/** The words that a search finds: what is kept of a checkpoint, how it is packed, and what is found again. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  packChanges,
  packSaid,
  placeParts,
  readChangedFiles,
  readChangesPart,
} from '../../core/checkpoint/content/content-object.ts';
import type { Checkpoint, CheckpointContent } from '../../core/checkpoint/model.ts';
import type { WordBlock } from '../../core/checkpoint/ports/words.ts';
import { FULL_BYTES, unpackLines, withEntries } from '../../core/checkpoint/words/block.ts';
import { type WordEntry, wordEntry } from '../../core/checkpoint/words/entry.ts';
import { findWords } from '../../core/checkpoint/words/find.ts';
import { chosenSeed } from '../support/sampling.ts';
import { checkpointOf } from '../support/session-items.ts';

const AT = '2026-01-02T10:00:00.000Z';
const NOW = Date.parse(AT) / 1000;

const checkpoint = (seq: number, more: Partial<Checkpoint> = {}): Checkpoint => ({
  ...checkpointOf('s1', seq),
  parentSeq: seq === 1 ? null : seq - 1,
  epoch: 1,
  reason: seq === 1 ? 'baseline' : 'before-tool',
  messageId: null,
  sandboxId: 'sandbox',
  createdAt: new Date(Date.parse(AT) + seq * 1_000).toISOString(),
  expiresAt: NOW + 1_000,
  ...more,
});

const changed = (path: string) => ({
  path,
  change: 'modified' as const,
  added: 1,
  deleted: 0,
  binary: false,
});

const blocksOf = (entries: readonly WordEntry[], sessionId = 's1'): WordBlock[] =>
  withEntries(undefined, { sessionId, updatedAt: AT }, entries).map(({ block }) => block);

const find = (entries: readonly WordEntry[], asked: string, now = NOW) =>
  findWords(blocksOf(entries), asked, now);

/** Two calls of one message: the first changed two files, the second has not ended. */
const worked = (): WordEntry[] => [
  wordEntry(checkpoint(1), undefined),
  wordEntry(
    checkpoint(2, {
      forMessageId: 'msg-1',
      content: {
        forMessage: {
          role: 'user',
          title: 'Fix the rounding',
          text: 'Fix the rounding\nof "prices" \\ sums',
        },
        tool: { name: 'Bash', input: '{"command":"npm run lint"}' },
      },
    }),
    undefined,
  ),
  {
    ...wordEntry(
      checkpoint(3, { messageId: 'msg-1', content: { tool: { name: 'Edit', input: 'later.ts' } } }),
      undefined,
    ),
    paths: ['api/src/price.ts', 'api/src/sum.ts'],
  },
];

describe('what is kept of a checkpoint', () => {
  test('texts and paths, from the item or from the object beside it, and cut', () => {
    const long = 'é'.repeat(1_200);
    const { object, places } = placeParts([
      packSaid({ text: long, input: long }),
      packChanges({ files: [changed('src/a.ts')], patch: new Uint8Array() }),
      packChanges({ files: [changed('b.ts')], patch: new Uint8Array() }),
    ]);
    const content: CheckpointContent = {
      message: { role: 'user', title: 'Hello' },
      tool: { name: 'Write' },
      said: places[0],
      object: { key: 'k', sizeBytes: object.length, sha256: 's' },
      changes: [
        { path: 'api', files: 1, added: 1, deleted: 0, part: places[1] },
        { path: '.', files: 1, added: 1, deleted: 0, part: places[2] },
        { path: 'same', files: 0, added: 0, deleted: 0 },
      ],
    };
    expect(wordEntry(checkpoint(2, { messageId: 'm', content }), object)).toMatchObject({
      messageId: 'm',
      message: { role: 'user', title: 'Hello', text: 'é'.repeat(1_000) },
      tool: { name: 'Write', input: 'é'.repeat(1_000) },
      paths: ['api/src/a.ts', 'b.ts'],
      isCut: true,
    });
    // Without its object, what the item has.
    expect(wordEntry(checkpoint(2, { messageId: 'm', content }), undefined)).toMatchObject({
      message: { role: 'user', title: 'Hello' },
      tool: { name: 'Write' },
    });
  });

  test('thousands of files are cut to some, whole names only', () => {
    const files = Array.from({ length: 3_000 }, (_, n) => changed(`file-${n}`));
    const { object, places } = placeParts([packChanges({ files, patch: new Uint8Array() })]);
    const changes = [{ path: 'api', files: 3_000, added: 0, deleted: 0, part: places[0] }];
    const content = { changes, object: { key: 'k', sizeBytes: 1, sha256: 's' } };
    const { paths = [] } = wordEntry(checkpoint(2, { content }), object);
    expect(paths.length).toBeGreaterThan(200);
    expect(paths.join('').length).toBeLessThanOrEqual(4_000);
    expect(paths).toEqual(files.slice(0, paths.length).map(({ path }) => `api/${path}`));
  });
});

test.each([100, 20_000])('%i files before a large patch are read without it', (count) => {
  const files = Array.from({ length: count }, (_, n) => changed(`${Math.sin(n)}`));
  const patch = new Uint8Array(Buffer.from('+ a line of the patch\n'.repeat(500_000)));
  const { object, places } = placeParts([packSaid({ text: 'x' }), packChanges({ files, patch })]);
  const part = places[1] ?? { at: 0, bytes: 0 };
  expect(readChangedFiles(object, part)).toEqual(files);
  expect(readChangesPart(object, part).patch).toHaveLength(patch.length);
});

describe('what is found', () => {
  test.each([
    ['ROUNDING fix', 'msg-1'],
    ['"prices" \\ SUMS', 'msg-1'],
    ['msg-1', 'msg-1'],
  ])('a message by %s', (asked, messageId) => {
    const { messages } = find(worked(), asked);
    expect(messages).toMatchObject([
      { sessionId: 's1', messageId, title: 'Fix the rounding', role: 'user', at: expect.any(String) },
    ]);
  });

  test('a call by what was run and by a file of it together, with its files that fit', () => {
    expect(find(worked(), 'lint PRICE.ts').calls).toEqual([
      {
        sessionId: 's1',
        messageId: 'msg-1',
        title: 'Fix the rounding',
        at: expect.any(String),
        checkpointId: worked()[2]?.checkpointId,
        tool: 'Bash',
        input: '{"command":"npm run lint"}',
        paths: [],
        morePaths: 0,
      },
    ]);
    expect(find(worked(), 'price.ts').calls).toMatchObject([{ tool: 'Bash', paths: ['api/src/price.ts'] }]);
    // The last call has no work yet.
    expect(find(worked(), 'later.ts').calls).toMatchObject([
      { tool: 'Edit', messageId: 'msg-1', checkpointId: worked()[2]?.checkpointId, paths: [] },
    ]);
  });

  test.each([
    ['"hello"', '{"command":"grep \\"hello\\" C:\\\\dir\\\\file"}', true],
    ['C:\\dir\\file', '{"command":"grep \\"hello\\" C:\\\\dir\\\\file"}', true],
    ['"hello" dir', `{"command":"grep \\"hello\\" C:\\\\dir ${'x'.repeat(2_000)}"}`, true],
    ['command', '{"command":"ls"}', false],
    ['42', '{"command":"ls","lines":[1,42]}', true],
    ['caf\u00e9', '{"command":"cat cafe\u0301"}', true],
  ])('%s in the input %s: %s', (asked, input, isFound) => {
    const entry = wordEntry(
      checkpoint(2, { messageId: 'm', content: { tool: { name: 'Bash', input } } }),
      undefined,
    );
    expect(find([wordEntry(checkpoint(1), undefined), entry], asked).calls).toHaveLength(isFound ? 1 : 0);
  });

  test('where the title lacks a word, the text around it is shown', () => {
    const text = `First line\n${'and so on '.repeat(30)}the PRICE of it ${'and more '.repeat(30)}`;
    const content = { message: { role: 'user', title: 'First line', text } };
    const [message] = find(
      [wordEntry(checkpoint(2, { messageId: 'm', content }), undefined)],
      'price',
    ).messages;
    expect(message?.excerpt).toMatch(/^….* the PRICE of it and more .*…$/);
    expect(message?.excerpt?.length).toBeLessThan(190);
  });

  test('nothing where a word is missing, and nothing that has expired', () => {
    expect(find(worked(), 'rounding absent')).toEqual({
      messages: [],
      calls: [],
      looked: { checkpoints: 3, cut: 0, sessions: 1 },
    });
    expect(find(worked(), 'rounding', NOW + 2_000)).toMatchObject({ messages: [], calls: [] });
  });

  test('files of a rollback are no work of the call before', () => {
    const [first, second, third] = worked();
    if (first === undefined || second === undefined || third === undefined) throw new Error('no entries');
    const reverted: WordEntry = { ...third, reason: 'revert' };
    const [call] = find([first, second, reverted], 'price.ts').calls;
    expect(call).not.toHaveProperty('tool');
    expect(call).toMatchObject({ paths: ['api/src/price.ts'] });
  });
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'Ä', '"', '\\', '\n', ' ', '💥'), maxLength: 12 });

test('however entries come, in batches and again, each is kept once and found by its words', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ title: text, big: fc.boolean() }), { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(59), fc.nat(20)), { maxLength: 20 }),
      text,
      (said, batches, asked) => {
        const entries = said.map(({ title, big }, n) =>
          wordEntry(
            checkpoint(n + 1, {
              messageId: `m-${n}`,
              content: {
                message: { role: 'user', title },
                // Hardly compressible, so that blocks fill up.
                ...(big && {
                  tool: {
                    name: 't',
                    input: Array.from({ length: 90 }, (_, i) => Math.sin(n * 99 + i)).join(''),
                  },
                }),
              },
            }),
            undefined,
          ),
        );
        const stored = new Map<number, WordBlock>();
        const newest = () => [...stored.values()].at(-1);
        let told = 0;
        for (const [from, length] of [...batches, [0, said.length] as const]) {
          // A stream goes on where it was, or begins again before that.
          const start = Math.min(from, told);
          told = Math.max(told, Math.min(said.length, start + length));
          const batch = entries.slice(start, start + length);
          for (const { block, expectedVersion } of withEntries(
            newest(),
            { sessionId: 's1', updatedAt: AT },
            batch,
          )) {
            expect(stored.get(block.number)?.version ?? null).toBe(expectedVersion);
            stored.set(block.number, block);
          }
        }
        const blocks = [...stored.values()];
        expect(blocks.flatMap(({ packed }) => unpackLines(packed))).toEqual(
          entries.map((entry) => JSON.stringify(entry)),
        );
        for (const block of blocks.slice(0, -1))
          expect(block.packed.length).toBeGreaterThanOrEqual(FULL_BYTES);
        const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
        const expected = said.flatMap(({ title }, n) =>
          words.length > 0 && words.every((word) => `m-${n}\n${title}`.toLowerCase().includes(word))
            ? [`m-${n}`]
            : [],
        );
        expect(findWords(blocks, asked, NOW).messages.map(({ messageId }) => messageId)).toEqual(
          expected.toReversed(),
        );
      },
    ),
    { seed: chosenSeed(), numRuns: 60 },
  );
});
