/** The bucket of an embedded cloud, and time that passes for its items. */
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { TestCloud } from './cloud.ts';

/** The keys of its objects, in their order. */
export const storedKeys = async (cloud: TestCloud, Prefix?: string): Promise<string[]> => {
  const Bucket = cloud.environment['WALKBACK_BUCKET'];
  const { Contents = [] } = await new S3Client().send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key).toSorted();
};

/** What has expired after so many days goes, with its objects. */
export const expire = async (cloud: TestCloud, days: number): Promise<void> => {
  await cloud.expireItems(new Date(Date.now() + days * 86_400_000));
  await cloud.settled();
};
