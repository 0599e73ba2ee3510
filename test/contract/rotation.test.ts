/** Secrets that are replaced while functions run: the real clients, over the embedded Secrets Manager and E2B. */
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSecret, SECRET_LIFE_MS } from '../../adapters/aws/secret.ts';
import { createRotatingSandboxes } from '../../adapters/e2b/rotating.ts';
import { type Endpoint, listenApp } from '../../local/listen.ts';
import { createSecretsApi } from '../../local/secrets.ts';
import { apiKey, startLocalE2b } from '../support/local-e2b.ts';

const credentials = { accessKeyId: 'LKIATEST', secretAccessKey: 'not a secret' };
const ID = 'walkback/e2b-api-key';

let disposal: AsyncDisposableStack;
let endpoint: Endpoint;
let client: SecretsManagerClient;
let nowMs: number;
const now = () => nowMs;
const rotate = (SecretString: string) =>
  client.send(new PutSecretValueCommand({ SecretId: ID, SecretString }));

beforeEach(async () => {
  disposal = new AsyncDisposableStack();
  nowMs = 1_000_000;
  endpoint = await listenApp(createSecretsApi({ secrets: { [ID]: 'first' }, credentials }));
  disposal.defer(() => endpoint.close());
  client = new SecretsManagerClient({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  });
  disposal.defer(() => client.destroy());
});
afterEach(() => disposal.disposeAsync());

test('a rotated secret is in use five minutes later at the latest, without a new instance', async () => {
  const secret = createSecret(ID, { client, now });
  expect(await secret()).toBe('first');
  await rotate('second');
  nowMs += SECRET_LIFE_MS - 1;
  expect(await secret()).toBe('first');
  nowMs += 1;
  expect(await secret()).toBe('second');
  expect(SECRET_LIFE_MS).toBe(5 * 60_000);
});

test('who has the secret goes on while Secrets Manager is away, and takes the new one when it is back', async () => {
  const secret = createSecret(ID, { client, now });
  expect(await secret()).toBe('first');
  await rotate('second');
  const { port } = new URL(endpoint.url);
  await endpoint.close();
  nowMs += SECRET_LIFE_MS;
  expect(await secret()).toBe('first');
  const back = await listenApp(createSecretsApi({ secrets: { [ID]: 'second' }, credentials }), Number(port));
  disposal.defer(() => back.close());
  nowMs += 30_000;
  expect(await secret()).toBe('second');
});

test('who never had it is told, and looks again at the next call', async () => {
  const secret = createSecret('not there yet', { client, now });
  await expect(secret()).rejects.toMatchObject({ name: 'ConfigurationError' });
  await expect(secret()).rejects.toMatchObject({ name: 'ConfigurationError' });
});

test.each([
  ['ResourceNotFoundException', "Secrets Manager can't find the specified secret.", 'There is no secret'],
  ['InvalidRequestException', 'it is marked for deletion', 'it is marked for deletion'],
  ['DecryptionFailure', 'the key is disabled', 'the key is disabled'],
  ['AccessDeniedException', 'not allowed', 'rights of the function'],
])('a secret that cannot be read is named: %s', async (__type, message, said) => {
  const refusing = await listenApp(new Hono().post('/', (c) => c.json({ __type, message }, 400)));
  disposal.defer(() => refusing.close());
  const asked = new SecretsManagerClient({
    endpoint: refusing.url,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  });
  disposal.defer(() => asked.destroy());
  const error = await createSecret(ID, { client: asked, now })().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(said) });
  expect(error).toMatchObject({ message: expect.stringContaining(ID) });
});

test('a revoked E2B key is refused by name, and the next one works in the same instance', async () => {
  const e2b = disposal.use(await startLocalE2b());
  const secret = createSecret(ID, { client, now });
  const sandboxes = createRotatingSandboxes({ apiKey: secret, apiUrl: e2b.url, sandboxUrl: e2b.url });
  const create = () => sandboxes.create({ tags: {}, timeoutMs: 60_000 });
  await expect(create()).rejects.toMatchObject({ name: 'ConfigurationError' });

  await rotate(apiKey);
  nowMs += SECRET_LIFE_MS;
  const { sandboxId } = await create();
  await expect(sandboxes.open(sandboxId)).resolves.toMatchObject({ sandboxId });
  await expect(sandboxes.kill(sandboxId)).resolves.toBe(true);
});
