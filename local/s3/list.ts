/** ListObjectsV2 as pure code: decides which of all objects are on this page. */
import { S3Error } from './errors.ts';
import type { ObjectInfo } from './store.ts';
import type { XmlNode } from './xml.ts';

export interface ListRequest {
  prefix: string;
  delimiter: string;
  maxKeys: number;
  startAfter: string;
  continuationToken: string | undefined;
  encodeKeys: boolean;
}

const MAX_KEYS = 1000;

const parseMaxKeys = (text: string | undefined): number => {
  const value = text === undefined ? MAX_KEYS : Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new S3Error('InvalidArgument', 'max-keys must be 0 or a positive integer.');
  return Math.min(value, MAX_KEYS);
};

export const parseListRequest = (query: (name: string) => string | undefined): ListRequest => ({
  prefix: query('prefix') ?? '',
  delimiter: query('delimiter') ?? '',
  maxKeys: parseMaxKeys(query('max-keys')),
  startAfter: query('start-after') ?? '',
  continuationToken: query('continuation-token'),
  encodeKeys: query('encoding-type') === 'url',
});

/** S3 orders keys by their UTF-8 bytes, not by UTF-16 units. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The part of a key up to and including the first delimiter after the prefix; undefined when there is none. */
const commonPrefix = (key: string, { prefix, delimiter }: ListRequest): string | undefined => {
  const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
};

type Entry = { name: string } & ({ kind: 'object'; info: ObjectInfo } | { kind: 'prefix' });

const entriesOf = (objects: ObjectInfo[], request: ListRequest): Entry[] => {
  const entries = new Map<string, Entry>();
  for (const info of objects) {
    if (!info.key.startsWith(request.prefix)) continue;
    const prefix = commonPrefix(info.key, request);
    if (prefix === undefined) entries.set(`o${info.key}`, { name: info.key, kind: 'object', info });
    else entries.set(`p${prefix}`, { name: prefix, kind: 'prefix' });
  }
  return [...entries.values()].sort((a, b) => byBytes(a.name, b.name));
};

const decodeToken = (token: string): string => Buffer.from(token, 'base64url').toString('utf8');
const encodeToken = (name: string): string => Buffer.from(name).toString('base64url');

const renderObject = (info: ObjectInfo, name: (key: string) => string): XmlNode => ({
  Key: name(info.key),
  LastModified: info.lastModified,
  ETag: `"${info.etag}"`,
  Size: info.sizeBytes,
  StorageClass: 'STANDARD',
});

/** The `ListBucketResult` document of one page. */
export const listPage = (bucket: string, objects: ObjectInfo[], request: ListRequest): XmlNode => {
  const after =
    request.continuationToken === undefined ? request.startAfter : decodeToken(request.continuationToken);
  const rest = entriesOf(objects, request).filter(({ name }) => after === '' || byBytes(name, after) > 0);
  const page = rest.slice(0, request.maxKeys);
  const last = page.at(-1);
  const truncated = rest.length > page.length && last !== undefined;
  const name = (key: string): string => (request.encodeKeys ? encodeURIComponent(key) : key);
  return {
    Name: bucket,
    Prefix: name(request.prefix),
    Delimiter: request.delimiter === '' ? undefined : name(request.delimiter),
    MaxKeys: request.maxKeys,
    KeyCount: page.length,
    IsTruncated: truncated,
    EncodingType: request.encodeKeys ? 'url' : undefined,
    ContinuationToken: request.continuationToken,
    NextContinuationToken: truncated ? encodeToken(last.name) : undefined,
    StartAfter: request.startAfter === '' ? undefined : name(request.startAfter),
    Contents: page.flatMap((entry) => (entry.kind === 'object' ? [renderObject(entry.info, name)] : [])),
    CommonPrefixes: page.flatMap((entry) => (entry.kind === 'prefix' ? [{ Prefix: name(entry.name) }] : [])),
  };
};

/**
 * The `ListVersionsResult` document of one page. Here each object has one version, and there are no delete
 * markers.
 */
export const versionsPage = (
  bucket: string,
  objects: ObjectInfo[],
  query: (name: string) => string | undefined,
): XmlNode => {
  const marker = query('key-marker') ?? '';
  const request = { ...parseListRequest(query), startAfter: marker, continuationToken: undefined };
  const {
    NextContinuationToken,
    Contents,
    KeyCount: _,
    StartAfter: __,
    ...page
  } = listPage(bucket, objects, request);
  const next = typeof NextContinuationToken === 'string' ? decodeToken(NextContinuationToken) : undefined;
  const versions = Array.isArray(Contents) ? Contents : [];
  return {
    ...page,
    KeyMarker: marker,
    NextKeyMarker: next,
    Version: versions.flatMap((one) =>
      typeof one === 'object' && !Array.isArray(one) ? [{ ...one, VersionId: 'null', IsLatest: true }] : [],
    ),
  };
};
