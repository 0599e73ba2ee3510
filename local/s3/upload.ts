/**
 * Turns the body of a PUT into verified content: decoded when it is aws-chunked, measured against the announced
 * length, and compared with every digest the client named, before any of it can become an object.
 */
import { decodeAwsChunked } from './aws-chunked.ts';
import { CHECKSUM_ALGORITHMS, type ChecksumAlgorithm, createDigest, isChecksumOf } from './digests.ts';
import { S3Error } from './errors.ts';
import type { ObjectInfo } from './store.ts';

const STREAMING_TRAILER = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
/** S3's limit for one PUT. */
const MAX_BYTES = 5 * 1024 ** 3;

/** Headers that an object gives back when it is read. */
const KEPT_HEADERS = ['content-type', 'cache-control', 'content-disposition', 'content-language', 'expires'];

export interface Expectation {
  sizeBytes: number;
  chunked: boolean;
  /** Hex SHA-256 of the body, when it was signed. */
  contentSha256: string | undefined;
  /** MD5 in base64. */
  contentMd5: string | undefined;
  checksums: Partial<Record<ChecksumAlgorithm, string>>;
  /** The checksum that follows the content. */
  trailer: ChecksumAlgorithm | undefined;
}

type Header = (name: string) => string | undefined;

const parseSize = (header: Header, chunked: boolean): number => {
  const text = header(chunked ? 'x-amz-decoded-content-length' : 'content-length');
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  const sizeBytes = Number(text);
  if (sizeBytes > MAX_BYTES) throw new S3Error('EntityTooLarge', 'One PUT is at most 5 GiB.');
  return sizeBytes;
};

/** A checksum that cannot be verified here must not be taken for a verified one. */
const OTHER_CHECKSUMS = ['crc32c', 'crc64nvme', 'md5', 'sha512', 'xxhash3', 'xxhash64', 'xxhash128'];

const refuseOtherChecksums = (header: Header): void => {
  const other = OTHER_CHECKSUMS.find((name) => header(`x-amz-checksum-${name}`) !== undefined);
  if (other !== undefined)
    throw new S3Error('NotImplemented', `x-amz-checksum-${other} is not supported here.`);
};

const parseChecksums = (header: Header): Expectation['checksums'] => {
  refuseOtherChecksums(header);
  const checksums: Expectation['checksums'] = {};
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const value = header(`x-amz-checksum-${algorithm}`);
    if (value === undefined) continue;
    if (!isChecksumOf(algorithm, value))
      throw new S3Error('InvalidRequest', `Value for x-amz-checksum-${algorithm} header is invalid.`);
    checksums[algorithm] = value;
  }
  return checksums;
};

/**
 * The time until which a PUT itself locks its object. Governance mode only: the other mode could never be
 * lifted here.
 */
export const parseRetention = (header: Header): { retainUntil?: string } => {
  const mode = header('x-amz-object-lock-mode');
  const until = header('x-amz-object-lock-retain-until-date');
  if (mode === undefined && until === undefined) return {};
  const time = Date.parse(until ?? '');
  if (mode === undefined || Number.isNaN(time))
    throw new S3Error('InvalidArgument', 'Object lock takes a mode and a date together.');
  if (mode !== 'GOVERNANCE')
    throw new S3Error('NotImplemented', 'Object lock supports only GOVERNANCE here.');
  if (time <= Date.now())
    throw new S3Error('InvalidArgument', 'The retain until date must be in the future!');
  return { retainUntil: new Date(time).toISOString() };
};

const parseTrailer = (header: Header): ChecksumAlgorithm | undefined => {
  const trailer = header('x-amz-trailer');
  if (trailer === undefined) return undefined;
  const algorithm = CHECKSUM_ALGORITHMS.find((name) => trailer === `x-amz-checksum-${name}`);
  if (algorithm === undefined)
    throw new S3Error('NotImplemented', `The trailer ${trailer} is not supported here.`);
  return algorithm;
};

const parseContentSha256 = (payloadHash: string): string | undefined => {
  if (payloadHash === UNSIGNED || payloadHash === STREAMING_TRAILER) return undefined;
  if (!/^[0-9a-f]{64}$/.test(payloadHash))
    throw new S3Error('NotImplemented', `x-amz-content-sha256 ${payloadHash} is not supported here.`);
  return payloadHash;
};

/** What the headers promise about the body. `header` finds names in lower case. */
export const parseExpectation = (header: Header, payloadHash: string): Expectation => {
  const chunked = payloadHash === STREAMING_TRAILER;
  return {
    sizeBytes: parseSize(header, chunked),
    chunked,
    contentSha256: parseContentSha256(payloadHash),
    contentMd5: header('content-md5'),
    checksums: parseChecksums(header),
    trailer: parseTrailer(header),
  };
};

const storedHeaders = (headers: Record<string, string>): Record<string, string> => {
  const encoding = headers['content-encoding']
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== 'aws-chunked' && part !== '')
    .join(',');
  const kept = Object.entries(headers).filter(
    ([name]) => KEPT_HEADERS.includes(name) || name.startsWith('x-amz-meta-'),
  );
  return { ...Object.fromEntries(kept), ...(encoding ? { 'content-encoding': encoding } : {}) };
};

const mustMatch = (matches: boolean, code: 'BadDigest' | 'XAmzContentSHA256Mismatch', what: string): void => {
  if (!matches) throw new S3Error(code, `The ${what} you specified did not match the calculated one.`);
};

/** A body to be streamed into the store, and the check that is made after its last byte. */
export const receiveUpload = (
  source: AsyncIterable<Buffer>,
  expected: Expectation,
  headers: Record<string, string>,
) => {
  const wanted = CHECKSUM_ALGORITHMS.filter(
    (name) => expected.checksums[name] !== undefined || expected.trailer === name,
  );
  const md5 = createDigest('md5');
  const sha256 = createDigest('sha256');
  const digests = wanted.map((name) => ({ name, digest: createDigest(name) }));
  let trailers = new Map<string, string>();

  const body = async function* (): AsyncGenerator<Buffer> {
    let sizeBytes = 0;
    const content = expected.chunked
      ? decodeAwsChunked(source, (received) => {
          trailers = received;
        })
      : source;
    for await (const chunk of content) {
      sizeBytes += chunk.length;
      if (sizeBytes > expected.sizeBytes)
        throw new S3Error('IncompleteBody', 'The body is longer than announced.');
      md5.update(chunk);
      if (expected.contentSha256 !== undefined) sha256.update(chunk);
      for (const { digest } of digests) digest.update(chunk);
      yield chunk;
    }
    if (sizeBytes !== expected.sizeBytes)
      throw new S3Error(
        'IncompleteBody',
        'You did not provide the number of bytes specified by Content-Length.',
      );
  };

  const verifiedChecksums = (): Record<string, string> => {
    const checksums: Record<string, string> = {};
    for (const { name, digest } of digests) {
      const actual = digest.digest().toString('base64');
      const claims = [expected.checksums[name], trailers.get(`x-amz-checksum-${name}`)];
      if (expected.trailer === name && claims[1] === undefined)
        throw new S3Error('InvalidRequest', `The announced trailer x-amz-checksum-${name} did not follow.`);
      for (const claim of claims) mustMatch(claim === undefined || claim === actual, 'BadDigest', name);
      checksums[name] = actual;
    }
    return checksums;
  };

  const describe = (key: string, sizeBytes: number): ObjectInfo => {
    const md5Digest = md5.digest();
    const contentMd5 = expected.contentMd5;
    mustMatch(
      contentMd5 === undefined || contentMd5 === md5Digest.toString('base64'),
      'BadDigest',
      'Content-MD5',
    );
    if (expected.contentSha256 !== undefined)
      mustMatch(
        expected.contentSha256 === sha256.digest().toString('hex'),
        'XAmzContentSHA256Mismatch',
        'x-amz-content-sha256',
      );
    return {
      key,
      sizeBytes,
      etag: md5Digest.toString('hex'),
      checksums: verifiedChecksums(),
      headers: storedHeaders(headers),
      lastModified: new Date().toISOString(),
    };
  };

  return { body: body(), describe };
};
