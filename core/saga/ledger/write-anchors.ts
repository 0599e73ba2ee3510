/**
 * Writes the digests that are due (anchor.ts). Runs by the clock. The next run makes up for one that was
 * missed.
 */

import type { AnchorReport } from '../../../contract/internal-inputs.ts';
import { DAY_MS } from '../../../contract/times.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import {
  type AnchorStore,
  anchorName,
  type Digest,
  digestHash,
  FIRST_PREVIOUS,
  type LedgerSigner,
  type ReadOutcomes,
  readDigest,
  signedText,
} from './anchor.ts';

/**
 * An entry gets its time before it is written. No function that writes one runs longer than five minutes,
 * and the index is only seconds behind. So every entry older than this is visible.
 */
const SETTLE_MS = 10 * 60_000;
/** A digest covers at least this long, however often the function is called. */
const SHORTEST_MS = 60_000;
/** About 600 KB a digest. */
const MAX_TIPS = 4_000;
const PAGE = 1_000;
/** Time kept in reserve for the digest being written. */
const RESERVE_MS = 30_000;

export interface AnchorDependencies {
  anchors: AnchorStore;
  signer: LedgerSigner;
  outcomes: ReadOutcomes;
  clock: Clock;
  log: Log;
}

interface Last {
  digest: Digest;
  hash: string;
}

const startOfDay = (time: string): string => `${time.slice(0, 10)}T00:00:00.000Z`;
const startOfNextDay = (time: string): string =>
  new Date(Date.parse(startOfDay(time)) + DAY_MS).toISOString();

const findLast = async (anchors: AnchorStore): Promise<Last | undefined> => {
  const day = (await anchors.days()).at(-1);
  if (day === undefined) return undefined;
  const name = (await anchors.list(day)).at(-1)?.name ?? day;
  const text = await anchors.get(name);
  const read = text === undefined ? undefined : readDigest(text);
  if (read !== undefined) return { digest: read.digest, hash: digestHash(read.signed) };
  throw new WalkbackError(
    'LedgerBroken',
    `The last digest of the ledger, ${name}, was deleted or is damaged: none can follow it. ` +
      'Bring its first version back (docs/operations.md, "When the ledger does not verify").',
    { details: { name } },
  );
};

/**
 * The last outcome of each saga in a stretch. The stretch ends earlier when there are more sagas than one
 * digest holds.
 */
const collect = async (outcomes: ReadOutcomes, from: string, until: string) => {
  const tips = new Map<string, { seq: number; hash: string }>();
  let cursor: string | undefined;
  do {
    const page = await outcomes(from.slice(0, 10), from, PAGE, cursor);
    for (const { sagaId, seq, hash, at } of page.items) {
      if (at >= until) return { tips, until };
      // Never ends a stretch within one moment, so that the next stretch begins with all entries of that
      // moment.
      if (tips.size >= MAX_TIPS && !tips.has(sagaId) && at > from) return { tips, until: at };
      const known = tips.get(sagaId);
      if (known === undefined || known.seq < seq) tips.set(sagaId, { seq, hash });
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { tips, until };
};

const nextStretch = (
  last: Last | undefined,
  settled: string,
): { from: string; until: string } | undefined => {
  const from = last?.digest.until ?? startOfDay(settled);
  const endOfDay = startOfNextDay(from);
  if (endOfDay <= settled) return { from, until: endOfDay };
  return Date.parse(settled) - Date.parse(from) < SHORTEST_MS ? undefined : { from, until: settled };
};

export const createAnchorLedger =
  ({ anchors, signer, outcomes, clock, log }: AnchorDependencies) =>
  async ({ deadlineMs }: Invocation): Promise<AnchorReport> => {
    const written: string[] = [];
    let last = await findLast(anchors);
    const isTime = (): boolean => clock.now().getTime() + RESERVE_MS < deadlineMs;
    const settled = new Date(clock.now().getTime() - SETTLE_MS).toISOString();
    for (
      let next = nextStretch(last, settled);
      next !== undefined && isTime();
      next = nextStretch(last, settled)
    ) {
      const { tips, until } = await collect(outcomes, next.from, next.until);
      const digest: Digest = {
        format: 1,
        number: (last?.digest.number ?? -1) + 1,
        from: next.from,
        until,
        previous: last?.hash ?? FIRST_PREVIOUS,
        tips: Object.fromEntries([...tips].toSorted(([one], [other]) => (one < other ? -1 : 1))),
      };
      const body = JSON.stringify(digest);
      const name = anchorName(digest);
      const hash = digestHash({ body });
      const signed = { body, ...(await signer.sign(signedText({ body }))) };
      // Another run was faster, and goes on from there.
      if (!(await anchors.put(name, JSON.stringify(signed)))) {
        last = await findLast(anchors);
        break;
      }
      // The log is a second record of which digest was the last.
      log.info('ledger anchored', { digest: name, hash, sagas: tips.size });
      written.push(name);
      last = { digest, hash };
    }
    return { written, until: last?.digest.until ?? null };
  };
