/**
 * Checks that the digests of a day are the ones that were written: all present, in order, each signed by
 * the key of the ledger. Pure.
 */

import { createPublicKey, verify } from 'node:crypto';
import type { AnchorsAnswer, StoredAnchor } from '../../../contract/ledger-query.ts';
import { DAY_MS, HOUR_MS } from '../../../contract/times.ts';
import {
  anchorName,
  type Digest,
  digestHash,
  FIRST_PREVIOUS,
  readDigest,
  type SignedDigest,
  signedText,
} from './anchor.ts';

type DayOfAnchors = Omit<AnchorsAnswer, 'publicKey'>;

export interface DigestFinding {
  /** Name of the digest. */
  digest: string;
  message: string;
}

export interface CheckedDay {
  day: string;
  /** The first day that has any digest; null while there is none. */
  firstDay: string | null;
  findings: DigestFinding[];
  /** The digests that are unchanged. */
  digests: { name: string; digest: Digest }[];
  /** The digests of this day should reach further by now. */
  isBehind: boolean;
}

/** Anchoring runs each hour and leaves ten minutes to settle. After this time, a run is missing. */
const BEHIND_MS = 3 * HOUR_MS;

const isSigned = (signed: SignedDigest, keys: readonly string[]): boolean =>
  keys.some((key) => {
    try {
      const signature = Buffer.from(signed.signature, 'base64');
      return verify('sha256', Buffer.from(signedText(signed)), createPublicKey(key), signature);
    } catch {
      return false;
    }
  });

interface Known {
  digest: Digest;
  hash: string;
}

const known = (anchor: StoredAnchor | undefined): Known | undefined => {
  const read = anchor?.text === undefined ? undefined : readDigest(anchor.text);
  return read && { digest: read.digest, hash: digestHash(read.signed) };
};

const ofItself = (anchor: StoredAnchor, keys: readonly string[]): string[] => {
  const wrong = anchor.versions === 1 ? [] : ['was deleted or written over'];
  if (anchor.text === undefined) return [...wrong, 'is gone'];
  const read = readDigest(anchor.text);
  if (read === undefined) return [...wrong, 'cannot be read as a digest'];
  if (!isSigned(read.signed, keys)) wrong.push('is not signed by the key of the ledger');
  const name = anchorName(read.digest);
  if (name !== anchor.name) wrong.push(`stands in the place of another: it is ${name}`);
  return wrong;
};

const ofPlace = ({ digest }: Known, before: Known | undefined): string[] => {
  if (before === undefined) {
    const isFirst = digest.number === 0 && digest.previous === FIRST_PREVIOUS;
    return isFirst ? [] : ['does not follow the one before it: that one is missing'];
  }
  if (digest.number > before.digest.number + 1) return ['the one before it is missing'];
  const follows =
    digest.number === before.digest.number + 1 &&
    digest.previous === before.hash &&
    digest.from === before.digest.until;
  return follows ? [] : ['does not follow the one before it'];
};

const endOf = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString();

/** How far the digests of a day must reach at `nowMs`; undefined when they need not reach anywhere yet. */
const dueUntil = ({ day, firstDay }: DayOfAnchors, nowMs: number): string | undefined => {
  if (firstDay !== null && day < firstDay) return undefined;
  const due = Math.min(Date.parse(endOf(day)), nowMs - BEHIND_MS);
  return due <= Date.parse(day) ? undefined : new Date(due).toISOString();
};

/** `keys`: the public keys, PEM, that may have signed. */
export const checkDigests = (stored: DayOfAnchors, keys: readonly string[], nowMs: number): CheckedDay => {
  const findings: DigestFinding[] = [];
  const digests: CheckedDay['digests'] = [];
  let before = known(stored.before);
  for (const anchor of stored.anchors) {
    const found = known(anchor);
    const wrong = [...ofItself(anchor, keys), ...(found === undefined ? [] : ofPlace(found, before))];
    findings.push(...wrong.map((message) => ({ digest: anchor.name, message })));
    if (found !== undefined && wrong.length === 0) digests.push({ name: anchor.name, digest: found.digest });
    before = found ?? before;
  }
  const due = dueUntil(stored, nowMs);
  const reached = stored.anchors.length === 0 ? undefined : before?.digest.until;
  const { day, firstDay } = stored;
  return { day, firstDay, findings, digests, isBehind: due !== undefined && (reached ?? '') < due };
};
