/**
 * Words of a session, packed: a line of JSON for each checkpoint, compressed together. A block is small enough to be written
 * anew with each checkpoint, and large enough that thousands of messages are a few pages of the table. Pure.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { MIB } from '../../../contract/sizes.ts';
import type { WordBlock } from '../ports/words.ts';
import type { WordEntry } from './entry.ts';

/** From this many bytes on, the next words begin another block. */
export const FULL_BYTES = 4 * 1024;
/** What was packed is smaller: one entry has at most 20,000 characters, and a block of thousands is full long before. */
const MOST_BYTES = 16 * MIB;

const said = z.object({ role: z.string(), title: z.string().optional(), text: z.string().optional() });
const makeSchema = () =>
  z.object({
    seq: z.int(),
    checkpointId: z.string(),
    parentSeq: z.int().nullable(),
    epoch: z.int(),
    sandboxId: z.string(),
    reason: z.string(),
    at: z.string(),
    until: z.number(),
    messageId: z.string().nullable(),
    message: said.optional(),
    forMessageId: z.string().optional(),
    forMessage: said.optional(),
    tool: z.object({ name: z.string(), input: z.string().optional() }).optional(),
    paths: z.array(z.string()).optional(),
    isCut: z.literal(true).optional(),
  });
let schema: ReturnType<typeof makeSchema> | undefined;

/** The lines, not read yet. */
export const unpackLines = (packed: Uint8Array): string[] =>
  gunzipSync(packed, { maxOutputLength: MOST_BYTES }).toString('utf8').split('\n');

export const readLine = (line: string): WordEntry => {
  schema ??= makeSchema();
  return schema.parse(JSON.parse(line));
};

const pack = (lines: readonly string[]): Uint8Array => gzipSync(lines.join('\n'));

type BlockSource = Pick<WordBlock, 'sessionId' | 'updatedAt'>;

const begin = ({ sessionId, updatedAt }: BlockSource, number: number, entry: WordEntry): WordBlock => ({
  sessionId,
  number,
  version: 1,
  lastSeq: entry.seq,
  packed: pack([JSON.stringify(entry)]),
  updatedAt,
  expiresAt: entry.until,
});

const grow = (block: WordBlock, { updatedAt }: BlockSource, entry: WordEntry): WordBlock => ({
  ...block,
  lastSeq: entry.seq,
  packed: pack([...unpackLines(block.packed), JSON.stringify(entry)]),
  updatedAt,
  expiresAt: Math.max(block.expiresAt, entry.until),
});

/** A block to be written, if the one that stands has this version. Null: none stands. */
export interface WrittenBlock {
  block: WordBlock;
  expectedVersion: number | null;
}

/**
 * The blocks to write, in order, so that these entries stand in them: the newest one grown, then others. Entries come in the order
 * of their checkpoints, but a stream may tell of them twice. So one that is not newer than what stands is there.
 */
export const withEntries = (
  newest: WordBlock | undefined,
  source: BlockSource,
  entries: readonly WordEntry[],
): WrittenBlock[] => {
  const written: WrittenBlock[] = [];
  let last = newest;
  for (const entry of entries) {
    if (last !== undefined && entry.seq <= last.lastSeq) continue;
    if (last === undefined || last.packed.length >= FULL_BYTES) {
      last = begin(source, last === undefined ? 0 : last.number + 1, entry);
      written.push({ block: last, expectedVersion: null });
      continue;
    }
    last = grow(last, source, entry);
    const before = written.at(-1);
    if (before === undefined) {
      const { version } = last;
      last = { ...last, version: version + 1 };
      written.push({ block: last, expectedVersion: version });
    } else before.block = last;
  }
  return written;
};
