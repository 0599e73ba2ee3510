/** The search of the console: what it asks for, what it shows, and how far it looked. */
import { expect, test } from 'vitest';
import type { SearchSessionsAnswer } from '../../contract/search-sessions.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, NASTY } from '../support/console-in-process.ts';

const AT = '2026-01-02T10:00:00.000Z';
const place = { sessionId: 's1', messageId: 'msg-1', title: 'Fix the rounding', at: AT };
const FOUND: SearchSessionsAnswer = {
  messages: [
    { ...place, role: 'assistant', excerpt: '… the <b>sum</b> …' },
    { sessionId: NASTY, messageId: NASTY, title: `Refund ${NASTY}`, role: NASTY, at: AT },
  ],
  moreMessages: 0,
  calls: [
    {
      ...place,
      checkpointId: 'cp-00000002-0123abcd',
      tool: 'Bash',
      input: '{"command":"npm run lint"}',
      paths: ['api/src/price.ts', 'a', 'b', 'c', 'd'],
      morePaths: 3,
    },
  ],
  moreCalls: 7,
  looked: { checkpoints: 12, cut: 0, sessions: 2 },
};

const visit = async (path: string, more: Parameters<typeof made>[0] = {}) => {
  const { fetchPage, enter, calls } = made({
    'search-sessions': () => FOUND,
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
  const text = await (await fetchPage(path, { headers: { cookie } })).text();
  return { text, asked: calls.find(({ name }) => name === 'search-sessions')?.input };
};

const search = async (q: string, more: Parameters<typeof made>[0] = {}): Promise<string> =>
  (await visit(`/search?q=${encodeURIComponent(q)}`, more)).text;

test.each([
  ['rounding', 'href="/sessions/s1?message=msg-1"'],
  ['lint', 'Bash npm run lint · api/src/price.ts · a · b · 5 more'],
  ['250.00 eur', 'Refund 250.00 EUR, order 2001'],
  ['order 2001', 'href="/sagas/saga-1"'],
])('%s is found', async (q, found) => {
  expect(await search(q)).toContain(found);
});

test('hostile names are text, and the page says how far it looked and what it left out', async () => {
  const text = await search('refund');
  expect(text).not.toContain('<img');
  expect(text).not.toContain('\u202e');
  expect(text).toContain('… the &lt;b&gt;sum&lt;/b&gt; …');
  expect(text).toContain('Cut here: 7 more.');
  expect(text).toContain('Looked through 12 checkpoints of 2 sessions, 1 saga, and the ledger');
  expect(text).not.toContain('look further back');
});

test('where there is more, a link looks further back, with the same words', async () => {
  const more = { 'search-sessions': () => ({ ...FOUND, lookedBackTo: AT, cursor: 'c.1' }) };
  const { text, asked } = await visit('/search?q=a+b', more);
  expect(asked).toEqual({ words: 'a b', limit: 50 });
  const [, href = ''] = /href="([^"]+)"><bdi>look further back/.exec(text) ?? [];
  const further = await visit(href.replaceAll('&amp;', '&'), more);
  expect(further.asked).toEqual({ words: 'a b', limit: 50, cursor: 'c.1' });
});

test('what is not there is not found', async () => {
  const nothing = {
    messages: [],
    calls: [],
    moreMessages: 0,
    moreCalls: 0,
    looked: { checkpoints: 2, cut: 1, sessions: 1 },
  };
  const text = await search('absent', { 'search-sessions': () => nothing });
  expect(text).toContain('Nothing was found.');
  expect(text).toContain('Looked through 2 checkpoints of 1 session; of 1 long one only the beginning, ');
});

test.each([
  ['search-sessions', 'Sessions', 'Refund 250.00 EUR'],
  ['list-sagas', 'Sagas', 'Fix the rounding'],
  ['query-ledger', 'The ledger', 'Fix the rounding'],
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
