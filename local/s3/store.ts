/**
 * Objects in a directory. Owns `<dataDir>/buckets/<bucket>/<2 hex>/<sha256 of the key>` and `<dataDir>/tmp`.
 * One object is one file: content, then its description as JSON, then the length of that JSON (8 bytes). So an
 * object appears, is replaced and vanishes by one rename, link or unlink, a reader keeps the version it opened,
 * and a crash leaves at most a file in `tmp`, which the next start removes. File names are hashes, so no key can
 * leave the directory and keys differing only in case stay apart on any file system.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import * as z from 'zod';
import { DAY_MS } from '../../contract/times.ts';
import { syncDirectory, syncFile, writeAll } from '../on-disk.ts';
import { readJson, writePrivately } from '../private-file.ts';
import { S3Error } from './errors.ts';

const objectInfo = z.object({
  key: z.string(),
  sizeBytes: z.int(),
  /** Hex MD5, without quotes. */
  etag: z.string(),
  /** Base64, by algorithm, as far as the uploader sent them. */
  checksums: z.record(z.string(), z.string()),
  /** Headers given back with the object: content-type, x-amz-meta-* and the like. */
  headers: z.record(z.string(), z.string()),
  lastModified: z.string(),
  /** Until then nobody can overwrite or delete it (object lock). */
  retainUntil: z.string().optional(),
});

export type ObjectInfo = z.infer<typeof objectInfo>;

export interface OpenObject {
  info: ObjectInfo;
  /** The bytes `start` to `end` inclusive. */
  read(start: number, end: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const LENGTH_BYTES = 8;
const READS_AT_ONCE = 16;
const READ_BYTES = 256 * 1024;

const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** For a bucket with object lock: for how many days an object is locked automatically. */
const lockSchema = z.object({ days: z.int().positive().optional() });

const refuseLocked = (info: ObjectInfo | undefined): void => {
  if (info?.retainUntil === undefined || info.retainUntil <= new Date().toISOString()) return;
  throw new S3Error('AccessDenied', 'Access Denied because object protected by object lock.');
};

const refuseOther = (info: ObjectInfo | undefined, etag: string): void => {
  if (info === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  if (info.etag === etag) return;
  throw new S3Error('PreconditionFailed', 'The object is another one than If-Match says.');
};

const encodeFooter = (info: ObjectInfo): Buffer => {
  const json = Buffer.from(JSON.stringify(info));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64BE(BigInt(json.length));
  return Buffer.concat([json, length]);
};

const parseFooter = (json: Buffer, contentBytes: number): ObjectInfo | undefined => {
  try {
    const info = objectInfo.parse(JSON.parse(json.toString('utf8')));
    return info.sizeBytes === contentBytes ? info : undefined;
  } catch {
    return undefined;
  }
};

/** Undefined when the file was cut or overwritten by hand. */
const readFooter = async (handle: FileHandle): Promise<ObjectInfo | undefined> => {
  const { size } = await handle.stat();
  if (size < LENGTH_BYTES) return undefined;
  const length = Buffer.alloc(LENGTH_BYTES);
  await handle.read(length, 0, LENGTH_BYTES, size - LENGTH_BYTES);
  const jsonBytes = Number(length.readBigUInt64BE());
  const contentBytes = size - LENGTH_BYTES - jsonBytes;
  if (contentBytes < 0) return undefined;
  const json = Buffer.alloc(jsonBytes);
  await handle.read(json, 0, jsonBytes, contentBytes);
  return parseFooter(json, contentBytes);
};

/**
 * A damaged file is answered as it is, without a checksum: a reader who knows what was stored notices the
 * difference.
 */
const damaged = async (handle: FileHandle, key: string): Promise<ObjectInfo> => {
  const { size, mtime } = await handle.stat();
  return { key, sizeBytes: size, etag: '', checksums: {}, headers: {}, lastModified: mtime.toISOString() };
};

async function* readBytes(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; ) {
    const length = Math.min(READ_BYTES, end + 1 - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0)
      throw new S3Error('InternalError', 'An object file is shorter than its description.');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Writes everything `body` yields, then what `describe` answers after it. */
const writeObjectFile = async (
  path: string,
  body: AsyncIterable<Buffer>,
  describe: (sizeBytes: number) => ObjectInfo,
): Promise<ObjectInfo> => {
  const handle = await open(path, 'wx');
  try {
    let sizeBytes = 0;
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of body) {
        sizeBytes += chunk.length;
        yield chunk;
      }
    };
    await writeAll(handle, counted());
    const info = describe(sizeBytes);
    await handle.appendFile(encodeFooter(info));
    await syncFile(handle);
    return info;
  } finally {
    await handle.close();
  }
};

export type ObjectStore = Awaited<ReturnType<typeof openObjectStore>>;

export const openObjectStore = async (dataDir: string) => {
  const buckets = join(dataDir, 'buckets');
  const temporary = join(dataDir, 'tmp');
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  await mkdir(buckets, { recursive: true });
  const locks = join(dataDir, 'locks');
  const lockFile = (bucket: string): string => join(locks, `${bucket}.json`);
  /** Undefined for a bucket without object lock. */
  const lockOf = (bucket: string) => readJson(lockFile(bucket), lockSchema);
  const writeLock = async (bucket: string, lock: z.input<typeof lockSchema>): Promise<void> => {
    await mkdir(locks, { recursive: true });
    await writePrivately(lockFile(bucket), lock);
  };

  /**
   * Conditional writes under way. If a key is deleted during its write, the write is answered with 409, as by
   * S3.
   */
  const conditional = new Set<{ path: string; deletedMeanwhile: boolean }>();

  const bucketDirectory = async (bucket: string): Promise<string> => {
    const directory = join(buckets, bucket);
    const found = await stat(directory).catch(() => undefined);
    if (found === undefined) throw new S3Error('NoSuchBucket', `The bucket ${bucket} does not exist.`);
    return directory;
  };

  const fileOf = async (bucket: string, key: string): Promise<{ directory: string; path: string }> => {
    const name = createHash('sha256').update(key).digest('hex');
    const directory = join(await bucketDirectory(bucket), name.slice(0, 2));
    return { directory, path: join(directory, name) };
  };

  /** Makes a finished file visible. With `createOnly`, never replaces an existing object. */
  const publish = async (from: string, to: string, createOnly: boolean): Promise<void> => {
    if (!createOnly) return rename(from, to);
    await link(from, to).catch((cause: unknown) => {
      if (!isErrno(cause, 'EEXIST')) throw cause;
      throw new S3Error('PreconditionFailed', 'The key exists already and If-None-Match is *.', { cause });
    });
  };

  /**
   * Takes turns per key: no other write or deletion comes between checking a condition and replacing the
   * object.
   */
  const turns = new Map<string, Promise<void>>();
  const inTurn = async (path: string, act: () => Promise<void>): Promise<void> => {
    const before = turns.get(path) ?? Promise.resolve();
    const mine = before.then(act);
    const settled = mine.catch(() => undefined);
    turns.set(path, settled);
    try {
      await mine;
    } finally {
      if (turns.get(path) === settled) turns.delete(path);
    }
  };

  /** Also undefined for a damaged file, whose key nobody knows any more. */
  const infoOf = async (path: string): Promise<ObjectInfo | undefined> => {
    // Deleted since the directory was read.
    const handle = await open(path, 'r').catch(() => undefined);
    try {
      return handle === undefined ? undefined : await readFooter(handle);
    } finally {
      await handle?.close();
    }
  };

  return {
    /**
     * With object lock, the bucket is made last: a crash in between leaves no bucket, so it can be made
     * again.
     */
    async createBucket(bucket: string, { isLocking = false } = {}): Promise<void> {
      const directory = join(buckets, bucket);
      await inTurn(directory, async () => {
        if ((await stat(directory).catch(() => undefined)) !== undefined)
          throw new S3Error('BucketAlreadyOwnedByYou', `The bucket ${bucket} exists already.`);
        if (isLocking) await writeLock(bucket, {});
        else await rm(lockFile(bucket), { force: true });
        await mkdir(directory);
        try {
          await syncDirectory(buckets);
        } catch (error) {
          // Otherwise the next try would be told that the bucket exists, and not what is wrong.
          await rmdir(directory).catch(() => undefined);
          throw error;
        }
      });
    },

    /** Object lock: objects written from now on are locked automatically for `days`. */
    async lockBucket(bucket: string, days?: number): Promise<void> {
      await bucketDirectory(bucket);
      await writeLock(bucket, days === undefined ? {} : { days });
    },

    isLocking: async (bucket: string): Promise<boolean> => (await lockOf(bucket)) !== undefined,

    async requireBucket(bucket: string): Promise<void> {
      await bucketDirectory(bucket);
    },

    /** Stores what `body` yields, unless it or `describe` (called after the last byte) throws. */
    async put(
      bucket: string,
      key: string,
      body: AsyncIterable<Buffer>,
      describe: (sizeBytes: number) => ObjectInfo,
      /** `replaceOnly`: the ETag of the object to replace. If another object is there, nothing happens. */
      options: { createOnly: boolean; replaceOnly?: string },
    ): Promise<ObjectInfo> {
      const { directory, path } = await fileOf(bucket, key);
      const unfinished = join(temporary, randomUUID());
      const write = { path, deletedMeanwhile: false };
      if (options.createOnly) conditional.add(write);
      try {
        const days = (await lockOf(bucket))?.days;
        const until =
          days === undefined ? {} : { retainUntil: new Date(Date.now() + days * DAY_MS).toISOString() };
        const info = await writeObjectFile(unfinished, body, (size) => ({ ...until, ...describe(size) }));
        if (write.deletedMeanwhile)
          throw new S3Error(
            'ConditionalRequestConflict',
            'The object was deleted during a conditional write.',
          );
        await mkdir(directory, { recursive: true });
        // S3 would keep both as versions. Here each object has one version, so the locked one stays.
        if (!options.createOnly) refuseLocked(await infoOf(path));
        await inTurn(path, async () => {
          if (options.replaceOnly !== undefined) refuseOther(await infoOf(path), options.replaceOnly);
          await publish(unfinished, path, options.createOnly);
        });
        await syncDirectory(directory);
        return info;
      } finally {
        conditional.delete(write);
        await rm(unfinished, { force: true });
      }
    },

    /** Opens one version of an object. It stays readable even if the object is replaced or deleted meanwhile. */
    async open(bucket: string, key: string): Promise<OpenObject> {
      const { path } = await fileOf(bucket, key);
      const handle = await open(path, 'r').catch((cause: unknown) => {
        if (!isErrno(cause, 'ENOENT')) throw cause;
        throw new S3Error('NoSuchKey', 'The specified key does not exist.', { cause });
      });
      try {
        const info = (await readFooter(handle)) ?? (await damaged(handle, key));
        return {
          info,
          read: (start, end) => readBytes(handle, start, end),
          close: () => handle.close(),
        };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    /** Deleting a missing object succeeds, as in S3. */
    async remove(bucket: string, key: string): Promise<void> {
      const { directory, path } = await fileOf(bucket, key);
      refuseLocked(await infoOf(path));
      await inTurn(path, () => rm(path, { force: true }));
      for (const write of conditional) if (write.path === path) write.deletedMeanwhile = true;
      await syncDirectory(directory).catch((error: unknown) => {
        if (!isErrno(error, 'ENOENT')) throw error;
      });
    },

    /** Every object of a bucket, in no order. */
    async list(bucket: string): Promise<ObjectInfo[]> {
      const directory = await bucketDirectory(bucket);
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      const limit = pLimit(READS_AT_ONCE);
      const infos = await Promise.all(
        entries
          .filter((entry) => entry.isFile())
          .map((entry) => limit(() => infoOf(join(entry.parentPath, entry.name)))),
      );
      return infos.filter((info) => info !== undefined);
    },
  };
};
