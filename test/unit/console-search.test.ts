/** The search of the console: what it finds, how far it looks, and how long that takes beside many messages. */
import { expect, test } from 'vitest';
import { findMessages } from '../../console/search.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, session } from '../support/console-in-process.ts';

const AT = '2026-01-02T10:00:00.000Z';
const message = (order: number, title: string) => ({
  messageId: `msg-${order}`,
  order,
  checkpointId: 'cp-00000002-0123abcd',
  discarded: false,
  role: 'assistant',
  title,
});
const call = { name: 'Bash', input: '{"command":"npm run lint"}', truncated: false };

const search = async (q: string, more: Parameters<typeof made>[0] = {}) => {
  const { fetchPage, enter } = made({
    'list-sessions': () => ({ sessions: [session('s1')] }),
    timeline: () => ({
      session: session('s1'),
      checkpoints: [],
      messages: [message(1, 'Fix the rounding'), message(2, 'Refund the customer')],
    }),
    changes: ({ messageId }: { messageId: string }) => ({
      checkpoints:
        messageId === 'msg-2'
          ? []
          : [
              {
                seq: 2,
                madeBy: call,
                repositories: [{ path: 'api', files: [{ path: 'src/price.ts' }] }],
                warnings: [],
              },
            ],
    }),
    'list-sagas': () => ({
      sagas: [
        {
          sagaId: 'saga-1',
          status: 'COMPLETED',
          definition: 'refund@1',
          failure: null,
          requestedBy: 'agent',
          updatedAt: AT,
          subject: {
            tool: 'pay',
            amount: '250.00',
            currency: 'EUR',
            about: { name: 'orderId', value: '2001' },
          },
        },
      ],
    }),
    'query-ledger': () => ({ entries: [] }),
    ...more,
  });
  const { cookie } = await enter();
  return (await fetchPage(`/search?q=${encodeURIComponent(q)}`, { headers: { cookie } })).text();
};

test.each([
  ['ROUNDING fix', 'href="/sessions/s1?message=msg-1"'],
  ['npm lint', 'Bash npm run lint'],
  ['price.ts', 'api/src/price.ts'],
  ['250.00 eur', 'Refund 250.00 EUR, order 2001'],
  ['order 2001', 'href="/sagas/saga-1"'],
])('%s is found', async (q, found) => {
  expect(await search(q)).toContain(found);
});

test('what is not there is not found, and the page says how far it looked', async () => {
  const text = await search('rounding refund');
  expect(text).toContain('Nothing was found.');
  expect(text).toContain('Looked at 2 messages of the 1 session that changed last');
});

test.each([
  ['timeline', 'Messages', 'Refund 250.00 EUR'],
  ['changes', 'Calls and files', 'Refund the customer'],
  ['list-sagas', 'Sagas', 'Refund the customer'],
  ['query-ledger', 'The ledger', 'Refund the customer'],
])('where %s does not answer, it says so and finds the rest', async (name, what, found) => {
  const failing = (): never => {
    throw new WalkbackError('StorageUnavailable', 'The store does not answer.');
  };
  const text = await search('refund', { [name]: failing });
  expect(text).toContain(`${what} could not be read: `);
  expect(text).toContain(found);
});

test('nothing is read before a word is given', async () => {
  const { fetchPage, enter, calls } = made({});
  const { cookie } = await enter();
  expect((await fetchPage('/search?q=+', { headers: { cookie } })).status).toBe(200);
  expect(calls).toEqual([]);
});

test('many messages are looked through, the newest of a session first', () => {
  const messages = Array.from({ length: 20_000 }, (_, n) => message(n, `Message ${n} about prices`));
  const begun = performance.now();
  const found = findMessages([{ session: session('s1'), messages }], 'PRICES 1999');
  process.stdout.write(`20,000 messages: ${(performance.now() - begun).toFixed(0)} ms\n`);
  expect(found.map(({ messageId }) => messageId)).toEqual([
    ...Array.from({ length: 10 }, (_, n) => `msg-${19_999 - n}`),
    'msg-11999',
    'msg-1999',
  ]);
});
