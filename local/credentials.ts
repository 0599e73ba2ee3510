/** The keys of one embedded cloud: random, made once, kept beside its data. */
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writePrivately } from './private-file.ts';

const credentialsSchema = z.object({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  e2bApiKey: z.string(),
});
export type CloudCredentials = z.infer<typeof credentialsSchema>;

export const CREDENTIALS_FILE = 'credentials.json';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const makeCredentials = (): CloudCredentials => ({
  accessKeyId: `LKIA${Array.from({ length: 16 }, () => BASE32[randomInt(32)]).join('')}`,
  secretAccessKey: randomBytes(30).toString('base64'),
  e2bApiKey: `e2b_${randomBytes(20).toString('hex')}`,
});

/** Whether a cloud was ever started over the directory. Throws `ConfigurationError` when its keys are damaged. */
export const hasCredentials = async (dataDir: string): Promise<boolean> =>
  (await readJson(join(dataDir, CREDENTIALS_FILE), credentialsSchema)) !== undefined;

/** The keys of this cloud: random, made once, kept. */
export const loadCredentials = async (dataDir: string): Promise<CloudCredentials> => {
  const path = join(dataDir, CREDENTIALS_FILE);
  const existing = await readJson(path, credentialsSchema);
  if (existing !== undefined) return existing;
  const made = makeCredentials();
  await writePrivately(path, made);
  return made;
};

/** The secret from which this cloud derives the keys of HTTP tools. */
export const httpToolSecret = (secretAccessKey: string): string =>
  createHmac('sha256', secretAccessKey).update('http-tool').digest('hex');

/** The secret that seals the sign-ins of this cloud's console. */
export const consoleSecret = (secretAccessKey: string): string =>
  createHmac('sha256', secretAccessKey).update('console').digest('hex');
