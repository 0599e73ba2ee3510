/** Reads an incoming HTTP request as S3 does: bucket, key, and headers that may also be in a presigned query. */
import type { IncomingMessage } from 'node:http';
import { S3Error } from './errors.ts';
import type { SignedRequest } from './signature.ts';

export interface S3Request extends SignedRequest {
  bucket: string;
  /** Empty when the request is about the bucket. */
  key: string;
  parameter: (name: string) => string | undefined;
  /** A header, or the query parameter of the same name: presigned URLs carry `x-amz-*` headers there. */
  header: (name: string) => string | undefined;
}

/** S3's rules for names, which also make them harmless as directory names. */
const BUCKET = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const MAX_KEY_BYTES = 1024;

const parseQuery = (text: string): SignedRequest['query'] => {
  const query: SignedRequest['query'] = {};
  for (const name of new Set(new URLSearchParams(text).keys())) {
    const values = new URLSearchParams(text).getAll(name);
    query[name] = values.length === 1 && values[0] !== undefined ? values[0] : values;
  }
  return query;
};

const decodeKey = (encoded: string): string => {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    throw new S3Error('InvalidURI', 'The key is not valid percent-encoded UTF-8.', { cause });
  }
};

const splitPath = (path: string): { bucket: string; key: string } => {
  const slash = path.indexOf('/', 1);
  const bucket = decodeKey(slash < 0 ? path.slice(1) : path.slice(1, slash));
  const key = slash < 0 ? '' : decodeKey(path.slice(slash + 1));
  if (bucket === '') throw new S3Error('NotImplemented', 'Name a bucket in the path: /bucket/key.');
  if (!BUCKET.test(bucket)) throw new S3Error('InvalidBucketName', 'The bucket name is not valid.');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new S3Error('KeyTooLongError', 'A key is at most 1024 bytes.');
  return { bucket, key };
};

const joinHeaders = (incoming: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    if (values !== undefined) headers[name] = values.join(',');
  return headers;
};

/** `below`: the path of the endpoint, which is signed with the rest. */
export const parseRequest = (incoming: IncomingMessage, below = ''): S3Request => {
  const url = incoming.url ?? '/';
  const mark = url.indexOf('?');
  // The raw path is used: URL would resolve "..", which is an ordinary part of a key and of the signature.
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = parseQuery(mark < 0 ? '' : url.slice(mark + 1));
  const headers = joinHeaders(incoming);
  const parameter = (name: string): string | undefined => {
    const value = query[name];
    return typeof value === 'string' ? value : undefined;
  };
  const hoisted = new Map(Object.keys(query).map((name) => [name.toLowerCase(), name]));
  return {
    method: incoming.method ?? 'GET',
    path,
    query,
    headers,
    ...splitPath(path.slice(below.length)),
    parameter,
    header: (name) =>
      headers[name] ?? (name.startsWith('x-amz-') ? parameter(hoisted.get(name) ?? name) : undefined),
  };
};
