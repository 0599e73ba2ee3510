/** Keys that `ledger verify --public-key` takes: a file without one says nothing of the ledger. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

const pemOf = (key: { export(options: { type: 'spki'; format: 'pem' }): string | Buffer }) =>
  String(key.export({ type: 'spki', format: 'pem' }));

test.each([
  ['an empty file', ''],
  ['JSON', '{"key": 1}'],
  ['an RSA key', pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)],
  ['a key on another curve', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
])('%s is wrong input, and nothing is asked', async (_what, content) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-key-'));
  const file = join(directory.path, 'ledger.pem');
  await writeFile(file, content);
  const { calls, failure } = await runCommand(['ledger', 'verify', 's-1', '--public-key', file]);
  expect(failure).toMatchObject({
    name: 'InvalidInput',
    exitCode: 2,
    message: `${file} holds no public key of a ledger: PEM of a key on the curve P-256.`,
  });
  expect(calls).toEqual([]);
});
