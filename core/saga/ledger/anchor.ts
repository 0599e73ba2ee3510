/**
 * Anchors record where the ledgers of sagas ended, out of reach of anyone who can write the tables.
 *
 * A digest covers one stretch of one day and holds the last outcome of every saga that moved then. It names
 * the digest before it, and is signed by a key that signs only digests. Stretches follow each other without
 * a gap, so a missing digest is noticed.
 */
import * as z from 'zod';
import type { StoredAnchor } from '../../../contract/ledger-query.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { Page } from '../ports.ts';

const time = z.iso.datetime();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

const digestSchema = z.strictObject({
  format: z.literal(1),
  /** From 0, without gaps. */
  number: count,
  /**
   * Covers outcomes whose `at` is from here on, and before `until`. Both are on one day, and `until` is at
   * most its end.
   */
  from: time,
  until: time,
  /** Hash of the body of the digest before it; zeros for the first. */
  previous: hash,
  /** The last outcome of each saga in this stretch, by saga id. */
  tips: z.record(z.string(), z.strictObject({ seq: count, hash })),
});
export type Digest = z.infer<typeof digestSchema>;

const signedSchema = z.strictObject({
  /** The digest as JSON. Its hash is signed, and the next digest names it. */
  body: z.string(),
  /** Base64 of an ECDSA signature (P-256, SHA-256, DER) over `signedText`. */
  signature: z.string(),
  /** ARN of the key. */
  key: z.string(),
});
export type SignedDigest = z.infer<typeof signedSchema>;

export const FIRST_PREVIOUS = '0'.repeat(64);

export const digestHash = ({ body }: Pick<SignedDigest, 'body'>): string => sha256Hex(body);

/**
 * Short, because KMS signs no message over 4 KiB. The text says that it is a digest, because the key signs
 * nothing else.
 */
export const signedText = (signed: Pick<SignedDigest, 'body'>): string =>
  `walkback ledger digest ${digestHash(signed)}`;

/** `anchors/<day>/<number>.json`: sorted by day and number. */
export const anchorName = ({ from, number }: Pick<Digest, 'from' | 'number'>): string =>
  `${from.slice(0, 10)}/${String(number).padStart(10, '0')}`;

/** Undefined for a text that is not a signed digest. */
export const readDigest = (text: string): { signed: SignedDigest; digest: Digest } | undefined => {
  try {
    const signed = signedSchema.parse(JSON.parse(text));
    return { signed, digest: digestSchema.parse(JSON.parse(signed.body)) };
  } catch {
    return undefined;
  }
};

/** The store of digests. No one can change or delete one. */
export interface AnchorStore {
  /** Days that have digests, oldest first. */
  days(): Promise<string[]>;
  /** Names of the digests of a day, oldest first, with how often each was written. */
  list(day: string): Promise<Omit<StoredAnchor, 'text'>[]>;
  get(name: string): Promise<string | undefined>;
  /** Create-only; false when there is one of this name. */
  put(name: string, text: string): Promise<boolean>;
}

export interface LedgerSigner {
  sign(text: string): Promise<Omit<SignedDigest, 'body'>>;
}

/** An outcome as the index by day holds it. */
interface IndexedOutcome {
  sagaId: string;
  seq: number;
  hash: string;
  at: string;
}

/** Outcomes of a day from a given moment on, oldest first. */
export type ReadOutcomes = (
  day: string,
  since: string,
  limit: number,
  cursor?: string,
) => Promise<Page<IndexedOutcome>>;
