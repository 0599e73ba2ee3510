/**
 * Sends notices to a URL, like a rule with an API destination: one at a time, oldest first, and again until
 * the receiver accepts it. It owns `notified.json`: the last record of the journal that needs no more
 * sending. A receiver may get a notice twice (with the same id), and misses none that was kept.
 */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { NOTICE_EVENTS, NOTICE_ID_MEMBER, NOTICE_SOURCE } from '../../contract/notices.ts';
import { DAY_MS } from '../../contract/times.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import { readJson, writePrivately } from '../private-file.ts';
import type { EventJournal, JournalRecord } from './journal.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const PATIENCE_MS = 5_000;
/** EventBridge gives up after a day. */
const GIVE_UP_MS = DAY_MS;

export interface NotifyOptions {
  url: string;
  /** The whole value of the header `Authorization`. */
  authorization?: string;
}

export interface Notifier {
  close(): Promise<void>;
}

const placeSchema = z.object({ after: z.string() });

const noticeSchema = z.object({ eventId: z.string(), notice: z.object({ text: z.string() }) });
type Notice = z.infer<typeof noticeSchema>;

/** The records that the construct's rule would let through. */
const isNotice = ({ kind, source, type }: JournalRecord): boolean =>
  kind === 'event' && source === NOTICE_SOURCE && NOTICE_EVENTS.some((one) => one === type);

/** For the journal: the records that it must keep, however many come after them. */
export const mayBeSent = (record: JournalRecord): boolean =>
  isNotice(record) && Date.now() - Date.parse(record.at) <= GIVE_UP_MS;

const noticeIn = (record: JournalRecord): Notice | undefined => {
  if (!isNotice(record)) return undefined;
  const parsed = noticeSchema.safeParse(record.body);
  return parsed.success ? parsed.data : undefined;
};

/** An API destination retries these statuses. Any other refusal is final. */
const isPassing = (status: number): boolean => [401, 407, 409, 429].includes(status) || status >= 500;

export const checkNotifyUrl = (url: string): string => {
  const { protocol = '' } = URL.canParse(url) ? new URL(url) : {};
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new WalkbackError(
    'InvalidInput',
    `${url} is no address that takes a POST; give one with http:// or https://.`,
  );
};

export const startNotify = async (parts: {
  options: NotifyOptions;
  journal: EventJournal;
  dataDir: string;
  log: Log;
  /** The pause between two tries. Default: a real wait. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): Promise<Notifier> => {
  const { options, journal, dataDir, log } = parts;
  const pause = parts.pause ?? ((ms, signal) => delay(ms, undefined, { signal, ref: false }));
  const url = checkNotifyUrl(options.url);
  const file = join(dataDir, 'notified.json');
  const stopping = new AbortController();
  const { signal } = stopping;

  // When notices are asked for the first time, old ones are not sent.
  let after = (await readJson(file, placeSchema))?.after;
  if (after === undefined) {
    // A notice, because the journal drops other records before it.
    after = journal.list().findLast(isNotice)?.id ?? '';
    await writePrivately(file, { after });
  }

  /**
   * Notes that a record is done. If it cannot be noted, the next ones are sent all the same, and a restart
   * sends this one again.
   */
  const settle = async (record: JournalRecord): Promise<void> => {
    after = record.id;
    try {
      await writePrivately(file, { after });
    } catch (error) {
      log.warn('a notice was sent and could not be noted; a restart sends it again', {
        file,
        error: String(error),
      });
    }
  };

  const left = (): JournalRecord[] => {
    const records = journal.list();
    return records.slice(records.findIndex(({ id }) => id === after) + 1);
  };

  const nextOf = (
    records: readonly JournalRecord[],
  ): { record: JournalRecord; notice: Notice } | undefined => {
    for (const record of records) {
      const notice = noticeIn(record);
      if (notice !== undefined) return { record, notice };
    }
    return undefined;
  };

  journal.onGiveUp((records) => {
    const waiting = new Set(left());
    const lost = records.filter((record) => waiting.has(record));
    if (lost.length === 0) return;
    log.warn('notices were dropped unsent: more wait than are kept', {
      notices: lost.length,
      from: lost.at(0)?.at,
      to: lost.at(-1)?.at,
    });
  });

  /** The status, or why there was none. */
  const post = async ({ eventId, notice }: Notice): Promise<number | string> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
        },
        body: JSON.stringify({ text: notice.text, [NOTICE_ID_MEMBER]: eventId }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      return String(error);
    }
  };

  const send = async (notice: Notice, at: string): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const answer = await post(notice);
      if (typeof answer === 'number' && answer >= 200 && answer < 300) return;
      signal.throwIfAborted();
      const isFinal = typeof answer === 'number' && !isPassing(answer);
      if (isFinal || Date.now() - Date.parse(at) > GIVE_UP_MS) {
        // The rest of an address may be a secret, like that of a Slack webhook.
        log.warn(`a notice was not taken by ${new URL(url).origin}`, { eventId: notice.eventId, answer });
        return;
      }
      await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal);
    }
  };

  const stopped = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const seen = journal.changed();
      const next = nextOf(left());
      if (next === undefined) {
        await Promise.race([seen, stopped]);
        continue;
      }
      await send(next.notice, next.record.at);
      await settle(next.record);
    }
  };
  const ended = loop().catch((error: unknown) => {
    if (!signal.aborted) log.warn('notices are not sent any more', { error: String(error) });
  });

  return {
    close: async () => {
      stopping.abort();
      await ended;
    },
  };
};
