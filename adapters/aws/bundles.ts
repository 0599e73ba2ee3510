/**
 * Bundles in a bucket. Keys come from content, so an existing object is the right one, and S3 itself checks
 * every upload's SHA-256.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { LinkBundle, StoredBundle } from '../../core/checkpoint/bundles.ts';
import type { BundleStore } from '../../core/checkpoint/ports/stores.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { COLLISION, type RetryMeans, retrying } from '../../core/shared/retry.ts';
import { BULK_DEFAULTS } from './client-defaults.ts';
import { calling, httpStatus, isNamed, toWalkbackError } from './errors.ts';

const SERVICE = 'S3';
const BUNDLE_TYPE = 'application/x-git-bundle';
const CHECKSUM_HEADER = 'x-amz-checksum-sha256';

/** The range of its object that a bundle is. Absent for a whole object. */
const rangeOf = ({ at, sizeBytes }: LinkBundle): string | undefined =>
  at === undefined ? undefined : `bytes=${at}-${at + sizeBytes - 1}`;

const headersOf = (range: string | undefined): Record<string, string> =>
  range === undefined ? {} : { range };

const toBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
const toHex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

/** A HEAD answer has no body, so its 404 has no other name. */
const isMissing = (error: unknown): boolean => isNamed(error, 'NoSuchKey', 'NotFound');

/** The object ends before the range begins, so it is not the one that was stored. */
const isShort = (error: unknown): boolean => isNamed(error, 'InvalidRange');

const missing = (key: string, cause: unknown): WalkbackError =>
  new WalkbackError('BundleMissing', `The bundle ${key} is not in the bucket. Choose another checkpoint.`, {
    cause,
    details: { key },
  });

const corrupt = (key: string): WalkbackError =>
  new WalkbackError(
    'BundleCorrupt',
    `The bundle ${key} in the bucket is not the one that was stored. Choose another checkpoint.`,
    { details: { key } },
  );

export const createBundleStore = (options: {
  bucket: string;
  client?: S3Client;
  /** How to wait before a collision is retried. A test need not wait. */
  retry?: RetryMeans;
}): BundleStore => {
  const { bucket: Bucket, retry: means = { sleep } } = options;
  // Downloads are hashed here, because wrong bytes must be told apart from a failing service.
  const client =
    options.client ?? new S3Client({ ...BULK_DEFAULTS, responseChecksumValidation: 'WHEN_REQUIRED' });

  const head: BundleStore['head'] = async (key) => {
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket, Key: key, ChecksumMode: 'ENABLED' }));
      const sha256 = found.ChecksumSHA256 === undefined ? undefined : toHex(found.ChecksumSHA256);
      return { sizeBytes: found.ContentLength ?? 0, sha256 };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw toWalkbackError(SERVICE, error);
    }
  };

  const read = async (key: string, range?: string): Promise<Uint8Array> => {
    try {
      const found = await client.send(new GetObjectCommand({ Bucket, Key: key, Range: range }));
      return (await found.Body?.transformToByteArray()) ?? new Uint8Array();
    } catch (error) {
      if (isMissing(error)) throw missing(key, error);
      if (isShort(error)) throw corrupt(key);
      throw toWalkbackError(SERVICE, error);
    }
  };

  /** Whether the stored object is the one to put. False when it has gone meanwhile. */
  const isSame = async (key: string, bytes: Uint8Array, sha256: string): Promise<boolean> => {
    const there = await head(key);
    if (there === undefined) return false;
    if (there.sizeBytes !== bytes.length || (there.sha256 ?? sha256) !== sha256) throw corrupt(key);
    return true;
  };

  return {
    put: async (key, bytes, sha256) => {
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: BUNDLE_TYPE,
        ChecksumSHA256: toBase64(sha256),
        IfNoneMatch: '*',
      });
      const tryPut = async (): Promise<true | undefined> => {
        try {
          await client.send(command);
          return true;
        } catch (error) {
          // Another write or a deletion was under way. S3 asks to try again, and does not tell what is
          // stored.
          if (isNamed(error, 'ConditionalRequestConflict') || httpStatus(error) === 409) return undefined;
          const isThere = isNamed(error, 'PreconditionFailed') || httpStatus(error) === 412;
          if (!isThere) throw toWalkbackError(SERVICE, error);
        }
        return (await isSame(key, bytes, sha256)) ? true : undefined;
      };
      if ((await retrying(COLLISION, means, tryPut)) !== undefined) return;
      throw new WalkbackError(
        'Throttled',
        `Others write and delete the bundle ${key} all the time. Call again.`,
        { retryable: true, details: { key } },
      );
    },

    head,

    get: async (bundle) => {
      const { key, sizeBytes, sha256 } = bundle;
      const bytes = await read(key, rangeOf(bundle));
      if (bytes.length !== sizeBytes || sha256Hex(bytes) !== sha256) throw corrupt(key);
      return bytes;
    },

    check: async (bundle) => {
      const { key, sizeBytes, sha256 } = bundle;
      const hash = createHash('sha256');
      let size = 0;
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ Bucket, Key: key, Range: rangeOf(bundle) }),
        );
        for await (const chunk of Body?.transformToWebStream() ?? []) {
          size += chunk.length;
          hash.update(chunk);
        }
      } catch (error) {
        if (isMissing(error)) throw missing(key, error);
        if (isShort(error)) throw corrupt(key);
        throw toWalkbackError(SERVICE, error);
      }
      if (size !== sizeBytes || hash.digest('hex') !== sha256) throw corrupt(key);
    },

    getStart: (key, bytes) => read(key, `bytes=0-${bytes - 1}`),

    presignPut: async ({ key, sizeBytes, sha256 }: StoredBundle, expiresIn) => {
      const checksum = toBase64(sha256);
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        ContentLength: sizeBytes,
        ChecksumSHA256: checksum,
      });
      // Kept out of the query, so that it is a signed header: then nobody can leave it out or change it.
      const unhoistableHeaders = new Set([CHECKSUM_HEADER]);
      const url = await calling(SERVICE, () =>
        getSignedUrl(client, command, { expiresIn, unhoistableHeaders }),
      );
      return { url, headers: { 'content-length': String(sizeBytes), [CHECKSUM_HEADER]: checksum } };
    },

    presignGet: async (bundle, expiresIn) => {
      const Range = rangeOf(bundle);
      const command = new GetObjectCommand({ Bucket, Key: bundle.key, Range });
      const url = await calling(SERVICE, () => getSignedUrl(client, command, { expiresIn }));
      return { url, headers: headersOf(Range) };
    },

    delete: async (keys) => {
      for (let from = 0; from < keys.length; from += 1000) {
        const Objects = keys.slice(from, from + 1000).map((Key) => ({ Key }));
        const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
        const answer = await calling(SERVICE, () => client.send(command));
        const failed = answer.Errors?.[0];
        if (failed !== undefined) {
          throw new WalkbackError(
            'StorageUnavailable',
            `S3 did not delete ${failed.Key} (${failed.Code}). Call again.`,
            { retryable: true },
          );
        }
      }
    },
  };
};
