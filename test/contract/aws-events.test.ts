/** From a changed item to an event on a bus, and the secret the functions start with. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { createEventBus } from '../../adapters/aws/event-bus.ts';
import { readSecret } from '../../adapters/aws/secret.ts';
import {
  checkpointItem,
  linkItem,
  messageItems,
  sessionItem,
} from '../../adapters/aws/sessions/session-items.ts';
import { toChange } from '../../adapters/aws/sessions/stream-records.ts';
import { failing } from '../support/fakes/failing.ts';
import { createWorkingStage } from '../support/fakes/stage.ts';

const region = 'us-east-1';
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };

describe('records of the stream', () => {
  const image = (item: Record<string, unknown>) => marshall(item, { removeUndefinedValues: true });

  test('are the items they are images of', async () => {
    const stage = await createWorkingStage();
    const session = stage.session();
    const [baseline, second] = stage.checkpoints();
    const [link] = stage.store.tables.links.values();
    if (baseline === undefined || second === undefined || link === undefined)
      throw new Error('nothing there');
    const before = image(sessionItem({ ...session, version: 1 }));
    const moved = toChange({
      eventID: 'e1',
      dynamodb: { OldImage: before, NewImage: image(sessionItem(session)) },
    });
    expect(moved).toMatchObject({
      id: 'e1',
      before: { kind: 'session', item: { version: 1 } },
      after: { kind: 'session', item: { version: session.version } },
    });
    const made = toChange({ dynamodb: { SequenceNumber: '7', NewImage: image(checkpointItem(baseline)) } });
    expect(made).toEqual({
      id: '7',
      before: undefined,
      after: { kind: 'checkpoint', item: JSON.parse(JSON.stringify(baseline)) },
    });
    const gone = toChange({ eventID: 'e2', dynamodb: { OldImage: image(linkItem(link)), NewImage: {} } });
    expect(gone).toMatchObject({ before: { kind: 'link', bundle: link.bundle }, after: undefined });
    const [message] = stage.store.tables.messages.values();
    if (message === undefined) throw new Error('no message');
    for (const item of messageItems('s', message, 1)) {
      expect(toChange({ dynamodb: { NewImage: image(item) } }).after).toEqual({ kind: 'other' });
    }
  });
});

describe('the bus', () => {
  const event = (id: string) => ({
    id,
    name: 'checkpoint.created' as const,
    at: '2026-01-01T00:00:00.000Z',
    detail: { sessionId: 's' },
  });
  const mocked = () => {
    const client = new EventBridgeClient({ region, credentials });
    return { mock: mockClient(client), bus: createEventBus({ busName: 'walkback', client }) };
  };

  test('gets events ten at a time, each with an id of its own', async () => {
    const { mock, bus } = mocked();
    mock.on(PutEventsCommand).resolves({ FailedEntryCount: 0 });
    await bus.publish(Array.from({ length: 12 }, (_, at) => event(String(at))));
    const calls = mock.commandCalls(PutEventsCommand).map(({ args }) => args[0].input.Entries ?? []);
    expect(calls.map((entries) => entries.length)).toEqual([10, 2]);
    expect(calls[0]?.[0]).toEqual({
      EventBusName: 'walkback',
      Source: 'walkback',
      DetailType: 'checkpoint.created',
      Time: new Date('2026-01-01T00:00:00.000Z'),
      Detail: '{"eventId":"0","sessionId":"s"}',
    });
  });

  test('an entry it did not take is an error', async () => {
    const { mock, bus } = mocked();
    mock
      .on(PutEventsCommand)
      .resolves({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'ThrottlingException' }] });
    const { message, retryable } = await failing(bus.publish([event('1')]), 'StorageUnavailable');
    expect(message).toContain('ThrottlingException');
    expect(retryable).toBe(true);
  });
});

describe('a secret', () => {
  const mocked = () => {
    const client = new SecretsManagerClient({ region, credentials });
    return { mock: mockClient(client), client };
  };

  test('is its plain text', async () => {
    const { mock, client } = mocked();
    mock.on(GetSecretValueCommand, { SecretId: 'arn' }).resolves({ SecretString: ' e2b_key\n' });
    expect(await readSecret('arn', client)).toBe('e2b_key');
  });

  test("that is empty, or may not be read, is the operator's to fix", async () => {
    const { mock, client } = mocked();
    mock.on(GetSecretValueCommand).resolves({ SecretString: '' });
    await failing(readSecret('arn', client), 'ConfigurationError');
    mock.on(GetSecretValueCommand).rejects(
      Object.assign(new Error('denied'), {
        name: 'AccessDeniedException',
        $metadata: { httpStatusCode: 400 },
      }),
    );
    await failing(readSecret('arn', client), 'ConfigurationError');
  });
});
