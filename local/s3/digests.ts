/** The checksums that S3 clients send with a body, computed while it streams through. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type ChecksumAlgorithm = 'sha256' | 'sha1' | 'crc32';
export const CHECKSUM_ALGORITHMS: readonly ChecksumAlgorithm[] = ['sha256', 'sha1', 'crc32'];

/** Length in bytes of each checksum. */
const LENGTH: Record<ChecksumAlgorithm, number> = { sha256: 32, sha1: 20, crc32: 4 };

export const isChecksumOf = (algorithm: ChecksumAlgorithm, base64: string): boolean => {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === LENGTH[algorithm] && bytes.toString('base64') === base64;
};

interface Digest {
  update(chunk: Uint8Array): void;
  digest(): Buffer;
}

const crc32Digest = (): Digest => {
  let value = 0;
  return {
    update: (chunk) => {
      value = crc32(chunk, value);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value >>> 0);
      return bytes;
    },
  };
};

const hashDigest = (name: string): Digest => {
  const hash = createHash(name);
  return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest() };
};

export const createDigest = (name: ChecksumAlgorithm | 'md5'): Digest =>
  name === 'crc32' ? crc32Digest() : hashDigest(name);
