/** The S3 operations Walkback uses. Each takes a request whose signature was checked and writes one answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { S3Error } from './errors.ts';
import { listPage, parseListRequest, versionsPage } from './list.ts';
import type { S3Request } from './request.ts';
import type { ObjectInfo, ObjectStore } from './store.ts';
import { parseExpectation, parseRetention, receiveUpload } from './upload.ts';
import { parseDelete, parseLock, type XmlNode, xmlDocument } from './xml.ts';

interface Exchange {
  request: S3Request;
  payloadHash: string;
  incoming: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
}

type Operation = (exchange: Exchange) => Promise<void>;

interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** The bytes a `Range` header asks for; undefined means the whole object (absent, or a form S3 ignores). */
const parseRange = (header: string | undefined, sizeBytes: number): ByteRange | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const from = match[1] === '' ? Math.max(0, sizeBytes - Number(match[2])) : Number(match[1]);
  const to = match[1] === '' || match[2] === '' ? sizeBytes - 1 : Number(match[2]);
  if (match[1] !== '' && match[2] !== '' && from > to) return undefined;
  if (from >= sizeBytes || to < from)
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable.');
  return { start: from, end: Math.min(to, sizeBytes - 1) };
};

const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

export const sendXml = (response: ServerResponse, status: number, root: string, content: XmlNode): void => {
  const body = Buffer.from(xmlDocument(root, content));
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body);
};

/** A client that waits for `100 Continue` sends its body only after the request was accepted. */
const openBody = ({ incoming, response }: Exchange): AsyncIterable<Buffer> => {
  if (incoming.headers.expect !== undefined) response.writeContinue();
  return incoming;
};

const readDocument = async (exchange: Exchange): Promise<string> => {
  const expected = parseExpectation(exchange.request.header, exchange.payloadHash);
  if (expected.sizeBytes > MAX_DOCUMENT_BYTES) throw new S3Error('MalformedXML', 'The document is too long.');
  const upload = receiveUpload(openBody(exchange), expected, {});
  const chunks: Buffer[] = [];
  for await (const chunk of upload.body) chunks.push(chunk);
  upload.describe('', expected.sizeBytes);
  return Buffer.concat(chunks).toString('utf8');
};

const objectHeaders = (info: ObjectInfo): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  ...info.headers,
  etag: `"${info.etag}"`,
  'last-modified': new Date(info.lastModified).toUTCString(),
  ...(info.retainUntil === undefined
    ? {}
    : {
        'x-amz-object-lock-mode': 'GOVERNANCE',
        'x-amz-object-lock-retain-until-date': info.retainUntil,
      }),
  'accept-ranges': 'bytes',
});

const checksumHeaders = (info: ObjectInfo): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(info.checksums).map(([name, value]) => [`x-amz-checksum-${name}`, value]),
  ),
  ...(Object.keys(info.checksums).length === 0 ? {} : { 'x-amz-checksum-type': 'FULL_OBJECT' }),
});

const createBucket: Operation = async ({ request, response, store }) => {
  const isLocking = request.header('x-amz-bucket-object-lock-enabled') === 'true';
  await store.createBucket(request.bucket, { isLocking });
  response.writeHead(200, { location: `/${request.bucket}`, 'content-length': 0 }).end();
};

const headBucket: Operation = async ({ request, response, store }) => {
  await store.requireBucket(request.bucket);
  response.writeHead(200, { 'content-length': 0 }).end();
};

/** Everything that is written from now on stays locked for this long. */
const putObjectLock: Operation = async (exchange) => {
  const { request, response, store } = exchange;
  const document = await readDocument(exchange);
  if (!(await store.isLocking(request.bucket)))
    throw new S3Error(
      'InvalidBucketState',
      'Object Lock configuration cannot be enabled on existing buckets.',
    );
  await store.lockBucket(request.bucket, parseLock(document));
  response.writeHead(200, { 'content-length': 0 }).end();
};

const putObject: Operation = async (exchange) => {
  const { request, payloadHash, response, store } = exchange;
  const condition = request.header('if-none-match');
  const match = request.header('if-match');
  for (const name of ['x-amz-copy-source', 'x-amz-write-offset-bytes'])
    if (request.header(name) !== undefined)
      throw new S3Error('NotImplemented', `${name} is not supported here.`);
  if (condition !== undefined && condition !== '*')
    throw new S3Error('NotImplemented', 'If-None-Match supports only *.');
  if (match !== undefined && (condition !== undefined || !/^"[^"]+"$/.test(match)))
    throw new S3Error('NotImplemented', 'If-Match supports one ETag, and no other condition beside it.');
  const expected = parseExpectation(request.header, payloadHash);
  await store.requireBucket(request.bucket);
  const retention = parseRetention(request.header);
  if (retention.retainUntil !== undefined && !(await store.isLocking(request.bucket)))
    throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
  if (condition === '*') await refuseExisting(store, request);
  const { body, describe } = receiveUpload(openBody(exchange), expected, request.headers);
  const info = await store.put(
    request.bucket,
    request.key,
    body,
    (size) => ({ ...describe(request.key, size), ...retention }),
    {
      createOnly: condition === '*',
      ...(match === undefined ? {} : { replaceOnly: match.slice(1, -1) }),
    },
  );
  response.writeHead(200, { etag: `"${info.etag}"`, ...checksumHeaders(info), 'content-length': 0 }).end();
};

/** Only saves the client from sending a body in vain. The store decides when the object is published. */
const refuseExisting = async (store: ObjectStore, { bucket, key }: S3Request): Promise<void> => {
  const found = await store.open(bucket, key).catch((error: unknown) => {
    if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined;
    throw error;
  });
  await found?.close();
  if (found !== undefined)
    throw new S3Error('PreconditionFailed', 'The key exists already and If-None-Match is *.');
};

const getOrHeadObject: Operation = async ({ request, response, store }) => {
  const object = await store.open(request.bucket, request.key);
  try {
    const { info } = object;
    const range = parseRange(request.headers['range'], info.sizeBytes);
    const { start, end } = range ?? { start: 0, end: info.sizeBytes - 1 };
    // A checksum of the whole object would be taken for one of the part.
    const checksums = range === undefined && request.header('x-amz-checksum-mode') === 'ENABLED';
    response.writeHead(range === undefined ? 200 : 206, {
      ...objectHeaders(info),
      ...(checksums ? checksumHeaders(info) : {}),
      ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${info.sizeBytes}` }),
      'content-length': end - start + 1,
    });
    if (request.method === 'HEAD' || end < start) response.end();
    else await pipeline(object.read(start, end), response);
  } finally {
    await object.close();
  }
};

const deleteObject: Operation = async ({ request, response, store }) => {
  await store.remove(request.bucket, request.key);
  response.writeHead(204).end();
};

const deleteObjects: Operation = async (exchange) => {
  const { request, response, store } = exchange;
  const { keys, quiet } = parseDelete(await readDocument(exchange));
  await store.requireBucket(request.bucket);
  for (const key of keys) await store.remove(request.bucket, key);
  sendXml(response, 200, 'DeleteResult', { Deleted: quiet ? [] : keys.map((Key) => ({ Key })) });
};

const listObjects: Operation = async ({ request, response, store }) => {
  const page = listPage(
    request.bucket,
    await store.list(request.bucket),
    parseListRequest(request.parameter),
  );
  sendXml(response, 200, 'ListBucketResult', page);
};

const listVersions: Operation = async ({ request, response, store }) => {
  const objects = await store.list(request.bucket);
  sendXml(response, 200, 'ListVersionsResult', versionsPage(request.bucket, objects, request.parameter));
};

const LIST_PARAMETERS = [
  'prefix',
  'delimiter',
  'max-keys',
  'start-after',
  'continuation-token',
  'encoding-type',
  'fetch-owner',
  'key-marker',
  'version-id-marker',
];

/** Query parameters that change the meaning of a request must be known; otherwise the request is refused. */
const subresources = (request: S3Request): string[] =>
  Object.keys(request.query).filter(
    (name) => name !== 'x-id' && !name.toLowerCase().startsWith('x-amz-') && !LIST_PARAMETERS.includes(name),
  );

/** Finds the operation of a request. Throws `NotImplemented` for everything that Walkback does not use. */
export const operationOf = (request: S3Request): Operation => {
  const target = request.key === '' ? 'bucket' : 'object';
  const name = [request.method, target, ...subresources(request)].join(' ');
  switch (name) {
    case 'PUT bucket':
      return createBucket;
    case 'HEAD bucket':
      return headBucket;
    case 'GET bucket list-type':
      return listObjects;
    case 'GET bucket versions':
      return listVersions;
    case 'PUT bucket object-lock':
      return putObjectLock;
    case 'POST bucket delete':
      return deleteObjects;
    case 'PUT object':
      return putObject;
    case 'GET object':
    case 'HEAD object':
      return getOrHeadObject;
    case 'DELETE object':
      return deleteObject;
    default:
      throw new S3Error('NotImplemented', `This local S3 does not support: ${name}.`);
  }
};
