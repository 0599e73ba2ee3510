/** Notices of the embedded cloud: each reaches the receiver, in order, whatever it answers, and again after a death with the same id. */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KEPT_LONGER, openJournal } from '../../local/events/journal.ts';
import { mayBeSent, startNotify } from '../../local/events/notify.ts';
import { scratch } from '../support/dynamodb.ts';
import { type Received, startReceiver } from '../support/notice-receiver.ts';
import { runCommand } from '../support/recording-app.ts';

const until = (isSo: () => boolean): Promise<boolean> => vi.waitUntil(isSo, { timeout: 60_000 });

const receive = async (statuses: number[] = []) => {
  const receiver = await startReceiver(statuses);
  onTestFinished(receiver.close);
  return receiver;
};

const event = (
  eventId: string,
  type = 'saga.awaiting',
  notice: object | null = { text: `of ${eventId}` },
) => ({
  kind: 'event' as const,
  target: 'walkback',
  source: 'walkback',
  type,
  body: { eventId, ...(notice === null ? {} : { notice }) },
});

const open = async () => {
  const directory = await scratch();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const log = { info: () => undefined, warn: vi.fn() };
  const start = async (url: string, authorization?: string) => {
    const journal = await openJournal(directory.path, mayBeSent);
    const notifier = await startNotify({
      options: { url, ...(authorization === undefined ? {} : { authorization }) },
      journal,
      dataDir: directory.path,
      log,
      pause: () => Promise.resolve(),
    });
    return { journal, notifier };
  };
  return { start, log, directory: directory.path };
};

const ids = (received: readonly Received[]): string[] => received.map(({ eventId }) => eventId);

test('what people have to see is sent with its text and id, and nothing else is', async () => {
  const { received, url } = await receive();
  const { start } = await open();
  const { journal, notifier } = await start(url, 'Bearer t');
  await journal.append([
    event('a'),
    event('b', 'saga.completed'),
    event('c', 'saga.awaiting', null),
    { kind: 'notification', target: 'topic', type: 'saga.awaiting', body: 'text' },
    event('d', 'saga.compensation_failed'),
  ]);
  await until(() => received.length >= 2);
  await notifier.close();
  expect(received).toMatchObject([
    { eventId: 'a', text: 'of a', authorization: 'Bearer t' },
    { eventId: 'd', text: 'of d', authorization: 'Bearer t' },
  ]);
});

test('a receiver that is away or asks for patience gets the same again, before the next one', async () => {
  const { received, url } = await receive([503, 429, 500, 200]);
  const { start, log } = await open();
  const { journal, notifier } = await start(url);
  await journal.append([event('a'), event('b')]);
  await until(() => received.length >= 5);
  await notifier.close();
  expect(ids(received)).toEqual(['a', 'a', 'a', 'a', 'b']);
  expect(log.warn).not.toHaveBeenCalled();
});

test('what was sent and could not be noted is told and holds nothing up; a restart sends it again', async () => {
  const { received, url } = await receive();
  const { start, log, directory } = await open();
  const { journal, notifier } = await start(url);
  const file = join(directory, 'notified.json');
  const before = await readFile(file);
  await rm(file);
  await mkdir(file);
  await journal.append([event('a'), event('b')]);
  await until(() => log.warn.mock.calls.length >= 2);
  await notifier.close();
  await rmdir(file);
  await writeFile(file, before, { mode: 0o600 });
  const again = await start(url);
  await until(() => received.length >= 4);
  await again.notifier.close();
  expect(ids(received)).toEqual(['a', 'b', 'a', 'b']);
});

test.each([400, 404, 302])('one that answers %i is not asked again, and that is told', async (status) => {
  const { received, url } = await receive([status]);
  const { start, log } = await open();
  const { journal, notifier } = await start(url);
  await journal.append([event('a'), event('b')]);
  await until(() => received.length >= 2);
  await notifier.close();
  expect(ids(received)).toEqual(['a', 'b']);
  expect(log.warn).toHaveBeenCalledWith(expect.stringContaining('not taken'), {
    eventId: 'a',
    answer: status,
  });
});

test('what was not taken before an end is sent by the next start, and what was taken is not', async () => {
  const { received, url } = await receive();
  const { start } = await open();
  const first = await start(url);
  await first.journal.append([event('a')]);
  await until(() => received.length >= 1);
  await first.notifier.close();
  // Nobody sends these.
  await first.journal.append([event('b'), event('c', 'saga.compensation_failed')]);
  const second = await start(url);
  await until(() => received.length >= 3);
  await second.notifier.close();
  // `a` may come again, when the end came between its answer and the note of it.
  expect(ids(received).filter((id) => id !== 'a')).toEqual(['b', 'c']);
  expect(ids(received).lastIndexOf('a')).toBeLessThan(ids(received).indexOf('b'));
});

test('who asks for the first time gets none of before', async () => {
  const { received, url } = await receive();
  const { start, directory } = await open();
  await (await openJournal(directory)).append([event('old')]);
  const { journal, notifier } = await start(url);
  await journal.append([event('new')]);
  await until(() => received.length >= 1);
  await notifier.close();
  expect(ids(received)).toEqual(['new']);
});

test('what waits is sent however many events came after it, and after a restart', async () => {
  const { received, url } = await receive();
  const { start } = await open();
  const others = Array.from({ length: 1_100 }, (_, at) => event(`o${at}`, 'saga.completed'));
  const first = await start(url);
  await first.notifier.close();
  await first.journal.append([event('a'), ...others]);
  await first.journal.append([event('b'), ...others]);
  expect(first.journal.list()).toHaveLength(1_002);
  const second = await start(url);
  await until(() => received.length >= 2);
  await second.journal.append([event('c')]);
  await until(() => received.length >= 3);
  await second.notifier.close();
  expect(ids(received)).toEqual(['a', 'b', 'c']);
});

test('when more wait than are kept, the log says how many were dropped, and not those that were sent', async () => {
  const { url } = await receive([200, 500]);
  const { start, log, directory } = await open();
  const { journal, notifier } = await start(url);
  await journal.append([event('sent')]);
  const [sent] = journal.list();
  // What was taken and is not noted yet counts as not sent.
  await until(() => readFileSync(join(directory, 'notified.json'), 'utf8').includes(sent?.id ?? 'none'));
  await notifier.close();
  const many = (count: number) => Array.from({ length: count }, (_, at) => event(`n${at}`));
  // One that was sent, and two that were not.
  await journal.append(many(KEPT_LONGER + 1_000 + 2));
  expect(journal.list()).toHaveLength(KEPT_LONGER + 1_000);
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('dropped unsent'), {
    notices: 2,
    from: expect.any(String),
    to: expect.any(String),
  });
});

test.each(['ftp://x', 'nowhere', ''])('%j is no address', async (url) => {
  const { start } = await open();
  await expect(start(url)).rejects.toMatchObject({ name: 'InvalidInput' });
});

test.each([
  [['--notify', 'nowhere'], {}],
  [[], { WALKBACK_NOTIFY_URL: 'nowhere' }],
  // What is said wins.
  [['--notify', 'nowhere'], { WALKBACK_NOTIFY_URL: 'http://127.0.0.1:9/' }],
] as const)('walkback up %j with %j starts nothing', async (words, env) => {
  await using directory = await scratch();
  const { failure, stdout } = await runCommand(['up', '--data', directory.path, ...words], { env });
  expect(failure).toMatchObject({ name: 'InvalidInput' });
  expect(failure?.message).toContain('nowhere is no address');
  expect(stdout).toBe('');
});

test('an event that could not be kept is nobody’s, and the next ones are kept', async () => {
  await using directory = await scratch();
  const journal = await openJournal(directory.path);
  await journal.append([event('a')]);
  const file = join(directory.path, 'events.jsonl');
  await rm(file);
  await mkdir(file);
  await expect(journal.append([event('b')])).rejects.toThrow('EISDIR');
  await rmdir(file);
  // Half a line, as a disk that was full leaves it.
  await writeFile(file, '{"id":"hal');
  await journal.append([event('c')]);
  await journal.append([event('d')]);
  const kept = (one: typeof journal) =>
    one.list().map((record) => (record.kind === 'event' ? record.body : undefined));
  const expected = ['a', 'c', 'd'].map((eventId) => expect.objectContaining({ eventId }));
  expect(kept(journal)).toEqual(expected);
  expect(kept(await openJournal(directory.path))).toEqual(expected);
});
