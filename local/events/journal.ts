/**
 * Records messages to buses and topics. Owns `events.jsonl`: one record per line, the newest `KEPT` of
 * them, in the order of arrival.
 */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const KEPT = 1_000;

const recordSchema = z.object({
  id: z.string(),
  at: z.string(),
  /** `event`: EventBridge. `notification`: SNS. */
  kind: z.enum(['event', 'notification']),
  /** Name of the bus, ARN of the topic. */
  target: z.string(),
  source: z.string().optional(),
  /** Detail type of an event, subject of a notification. */
  type: z.string().optional(),
  /** Parsed detail of an event, text of a notification. */
  body: z.unknown(),
});
export type JournalRecord = z.infer<typeof recordSchema>;

export interface EventJournal {
  append(records: Omit<JournalRecord, 'id' | 'at'>[]): Promise<JournalRecord[]>;
  /** Oldest first. */
  list(): readonly JournalRecord[];
  /** Resolves when more is kept than at the time of the call. */
  changed(): Promise<void>;
}

const toLines = (records: JournalRecord[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** A line that a crash cut off is skipped. */
const parseLine = (line: string): JournalRecord[] => {
  try {
    return [recordSchema.parse(JSON.parse(line))];
  } catch {
    return [];
  }
};

export const openJournal = async (dataDir: string): Promise<EventJournal> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'events.jsonl');
  const text = await readFile(file, 'utf8').catch(() => '');
  const records = text.split('\n').flatMap(parseLine).slice(-KEPT);

  const rewrite = async (): Promise<void> => {
    const temporary = `${file}.new`;
    await writeFile(temporary, toLines(records), { mode: 0o600 });
    await rename(temporary, file);
  };
  await rewrite();

  let more = Promise.withResolvers<void>();
  let linesOnDisk = records.length;
  /** A write that failed (a full disk) may have left half a line, and the next one would be lost with it. */
  let isTorn = false;
  let last: Promise<void> = Promise.resolve();
  const save = (added: JournalRecord[]): Promise<void> => {
    // The next one is tried, whatever became of the one before.
    last = last
      .catch(() => undefined)
      .then(async () => {
        const isWhole = !isTorn && linesOnDisk + added.length <= 2 * KEPT;
        isTorn = true;
        if (isWhole) await appendFile(file, toLines(added), { mode: 0o600 });
        else await rewrite();
        isTorn = false;
        linesOnDisk = isWhole ? linesOnDisk + added.length : records.length;
      });
    return last;
  };

  return {
    append: async (incoming) => {
      const at = new Date().toISOString();
      const added = incoming.map((record) => ({ id: randomUUID(), at, ...record }));
      records.push(...added);
      records.splice(0, Math.max(0, records.length - KEPT));
      try {
        await save(added);
      } catch (error) {
        // Whoever published them is told, and publishes them again.
        for (const record of added) if (records.includes(record)) records.splice(records.indexOf(record), 1);
        throw error;
      }
      more.resolve();
      more = Promise.withResolvers();
      return added;
    },
    list: () => records,
    changed: () => more.promise,
  };
};
