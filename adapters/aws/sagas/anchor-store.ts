/** Digests of the ledger in a bucket under object lock. Nothing here can change or delete one. */
import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { AnchorStore } from '../../../core/saga/ledger/anchor.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { calling, httpStatus, isNamed } from '../errors.ts';

const SERVICE = 'S3';
const PREFIX = 'anchors/';

const keyOf = (name: string): string => `${PREFIX}${name}.json`;
const nameOf = (key: string): string => key.slice(PREFIX.length).replace(/\.json$/, '');

export interface AnchorStoreOptions {
  bucket: string;
  client?: S3Client;
}

export const createAnchorStore = ({
  bucket,
  client = new S3Client(CLIENT_DEFAULTS),
}: AnchorStoreOptions): AnchorStore => {
  /** Lists versions, because no other list shows a name that was deleted or overwritten. */
  async function* pages(prefix: string, delimiter?: string): AsyncGenerator<ListObjectVersionsCommandOutput> {
    let from: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
    while (from !== undefined) {
      const command: ListObjectVersionsCommand = new ListObjectVersionsCommand({
        Bucket: bucket,
        Prefix: prefix,
        ...(delimiter === undefined ? {} : { Delimiter: delimiter }),
        ...from,
      });
      const page: ListObjectVersionsCommandOutput = await calling(SERVICE, () => client.send(command));
      yield page;
      const { IsTruncated, NextKeyMarker, NextVersionIdMarker } = page;
      from =
        IsTruncated === true && NextKeyMarker !== undefined
          ? {
              KeyMarker: NextKeyMarker,
              ...(NextVersionIdMarker === undefined ? {} : { VersionIdMarker: NextVersionIdMarker }),
            }
          : undefined;
    }
  }

  return {
    days: async () => {
      const days: string[] = [];
      for await (const { CommonPrefixes = [] } of pages(PREFIX, '/')) {
        days.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(PREFIX.length, -1)));
      }
      return days.toSorted();
    },
    list: async (day) => {
      const counts = new Map<string, number>();
      for await (const { Versions = [], DeleteMarkers = [] } of pages(`${PREFIX}${day}/`)) {
        for (const { Key = '' } of [...Versions, ...DeleteMarkers]) {
          counts.set(nameOf(Key), (counts.get(nameOf(Key)) ?? 0) + 1);
        }
      }
      return [...counts]
        .map(([name, versions]) => ({ name, versions }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
    get: async (name) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
        return await Body?.transformToString();
      } catch (error) {
        if (isNamed(error, 'NoSuchKey')) return undefined;
        return calling(SERVICE, () => Promise.reject(error));
      }
    },
    put: async (name, text) => {
      try {
        // The bucket's default locks the object, so no caller can forget to.
        await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: keyOf(name),
            Body: text,
            ContentType: 'application/json',
            IfNoneMatch: '*',
          }),
        );
        return true;
      } catch (error) {
        // 409: another run writes it at this moment.
        if (isNamed(error, 'PreconditionFailed') || httpStatus(error) === 409) return false;
        return calling(SERVICE, () => Promise.reject(error));
      }
    },
  };
};
