/** Exported objects in a bucket, each with the place in the ledger up to which it was made. Nothing here deletes one. */
import { HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { ExportStore } from '../../../core/saga/ledger/export-ledger.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { calling, httpStatus, isNamed } from '../errors.ts';

const SERVICE = 'S3';
const SEQ = 'walkback-seq';
const FORM = 'walkback-form';

export interface ExportStoreOptions {
  bucket: string;
  client?: S3Client;
}

/** An object that somebody else put there counts as older than everything. */
const numberOf = (metadata: Record<string, string> | undefined, name: string): number => {
  const number = Number(metadata?.[name] ?? Number.NaN);
  return Number.isInteger(number) ? number : -1;
};

export const createExportStore = ({
  bucket,
  client = new S3Client(CLIENT_DEFAULTS),
}: ExportStoreOptions): ExportStore => ({
  find: async (key) => {
    try {
      const { Metadata, ETag = '' } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return { seq: numberOf(Metadata, SEQ), form: numberOf(Metadata, FORM), version: ETag };
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined;
      return calling(SERVICE, () => Promise.reject(error));
    }
  },
  put: async ({ key, seq, form, body }, before) => {
    try {
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body: body,
          ContentType: 'application/x-ndjson',
          Metadata: { [SEQ]: String(seq), [FORM]: String(form) },
          ...(before === undefined ? { IfNoneMatch: '*' } : { IfMatch: before.version }),
        }),
      );
      return true;
    } catch (error) {
      // 412: another version is there. 409: another write is under way. 404: the object to replace was
      // deleted.
      const status = httpStatus(error);
      if (isNamed(error, 'PreconditionFailed', 'NoSuchKey') || status === 412 || status === 409) return false;
      return calling(SERVICE, () => Promise.reject(error));
    }
  },
});
