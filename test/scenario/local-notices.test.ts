/** People are told by the embedded cloud: an approval that waits and a failed compensation reach a URL, with a link that opens. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { signInWithBrowser } from '../support/browser-person.ts';
import { startReceiver } from '../support/notice-receiver.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';

let sagas: SagaCloud;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  // The first request is refused, so that it comes again.
  receiver = await startReceiver([503]);
  sagas = await startSagaCloud({ notify: { url: receiver.url, authorization: 'Bearer t' } });
});
afterAll(async () => {
  await sagas.close();
  receiver.close();
});

test('each with amount, references and a link that leads to the saga, and an id that repeats with it', async () => {
  const { cloud, faults } = sagas;
  await sagas.start('asks', 'refund-approved');
  await vi.waitUntil(() => receiver.received.length >= 2, 120_000);
  faults.refuseMail = true;
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  await sagas.start('failed');
  await vi.waitUntil(() => receiver.received.length >= 3, 300_000);

  const [refused, approval, failure] = receiver.received;
  expect(refused).toMatchObject({ status: 503, eventId: approval?.eventId, text: approval?.text });
  expect(approval).toMatchObject({ status: 200, authorization: 'Bearer t' });
  const link = `${cloud.endpoints.api}/sagas/asks`;
  expect(approval?.text).toContain('waits for an approval');
  expect(approval?.text).toContain(`Look: ${link}`);
  expect(failure?.text).toContain('could not be undone');
  expect(failure?.text).toMatch(/ref \S+/);
  expect(failure?.eventId).not.toBe(approval?.eventId);

  // The text and the id are those of the event that is on the bus.
  const events = cloud.events().map(({ body }) => body as { eventId?: string; notice?: { text: string } });
  for (const one of [approval, failure]) {
    expect(events.find(({ eventId }) => eventId === one?.eventId)?.notice?.text).toBe(one?.text);
  }

  const { person } = await signInWithBrowser(cloud);
  const page = await person.get(link);
  expect(page.status).toBe(200);
  expect(page.text).toContain('asks');
});
