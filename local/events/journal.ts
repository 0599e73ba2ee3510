/**
 * Records messages to buses and topics. It owns `events.jsonl`: one record per line, in order of arrival. It
 * keeps the newest `KEPT` of them, and older ones that its reader still needs.
 */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const KEPT = 1_000;
/** Of the older records that are needed, at most this many of the newest are kept. */
export const KEPT_LONGER = 10_000;

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
  /** Resolves when records were added after the call. */
  changed(): Promise<void>;
  /**
   * Called with needed records that are dropped, because more came than are kept. They are still in the list
   * at that moment.
   */
  onGiveUp(tell: (records: readonly JournalRecord[]) => void): void;
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

const nothingOlder = (): boolean => false;

/**
 * `isNeeded`: whether a record is kept longer. A record that is no longer needed must not become needed
 * again.
 */
export const openJournal = async (
  dataDir: string,
  isNeeded: (record: JournalRecord) => boolean = nothingOlder,
): Promise<EventJournal> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'events.jsonl');
  const text = await readFile(file, 'utf8').catch(() => '');
  let giveUp = (_records: readonly JournalRecord[]): void => undefined;
  const trimmed = (all: readonly JournalRecord[]): JournalRecord[] => {
    const needed = all.slice(0, -KEPT).filter(isNeeded);
    const tooMany = Math.max(0, needed.length - KEPT_LONGER);
    if (tooMany > 0) giveUp(needed.slice(0, tooMany));
    return [...needed.slice(tooMany), ...all.slice(-KEPT)];
  };
  let records = trimmed(text.split('\n').flatMap(parseLine));

  const rewrite = async (): Promise<void> => {
    const temporary = `${file}.new`;
    await writeFile(temporary, toLines(records), { mode: 0o600 });
    await rename(temporary, file);
  };
  await rewrite();

  let more = Promise.withResolvers<void>();
  let linesOnDisk = records.length;
  /** A failed write (a full disk) may have left half a line, which would spoil the next line. */
  let isTorn = false;
  let last: Promise<void> = Promise.resolve();
  const save = (added: JournalRecord[]): Promise<void> => {
    // The next one is tried, whatever became of the one before.
    last = last
      .catch(() => undefined)
      .then(async () => {
        const isWhole = !isTorn && linesOnDisk + added.length <= records.length + KEPT;
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
      const added: JournalRecord[] = incoming.map((record) => ({ id: randomUUID(), at, ...record }));
      records.push(...added);
      records = trimmed(records);
      try {
        await save(added);
      } catch (error) {
        // The publisher gets the error, and publishes them again.
        records = records.filter((record) => !added.includes(record));
        throw error;
      }
      more.resolve();
      more = Promise.withResolvers();
      return added;
    },
    list: () => records,
    changed: () => more.promise,
    onGiveUp: (tell) => {
      giveUp = tell;
    },
  };
};
