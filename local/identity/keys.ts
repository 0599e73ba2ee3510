/** The key that signs the tokens of one embedded cloud: random, made once, kept beside its data. */
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import * as z from 'zod';
import { readJson, writePrivately } from '../private-file.ts';

/** The only algorithm that the JWT authorizer of an HTTP API verifies. */
const ALGORITHM = 'RS256';

const keySchema = z.object({
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  d: z.string(),
  p: z.string(),
  q: z.string(),
  dp: z.string(),
  dq: z.string(),
  qi: z.string(),
});

const make = async (): Promise<z.infer<typeof keySchema>> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return keySchema.parse(await exportJWK(privateKey));
};

export interface TokenKey {
  algorithm: string;
  kid: string;
  privateKey: Awaited<ReturnType<typeof importJWK>>;
  publicJwk: JWK;
}

export const loadTokenKey = async (dataDir: string): Promise<TokenKey> => {
  const path = join(dataDir, 'token-key-rsa.json');
  let key = await readJson(path, keySchema);
  if (key === undefined) {
    key = await make();
    await writePrivately(path, key);
  }
  const { kty, n, e } = key;
  const open = { kty, n, e };
  const kid = await calculateJwkThumbprint(open);
  return {
    algorithm: ALGORITHM,
    kid,
    privateKey: await importJWK(key, ALGORITHM),
    publicJwk: { ...open, kid, alg: ALGORITHM, use: 'sig' },
  };
};
