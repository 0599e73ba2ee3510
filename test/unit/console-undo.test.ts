/** A completed saga is undone from its page: what is shown is what is done, and what stays is accepted by a tick. */
import { expect, test } from 'vitest';
import { made, ORIGIN, tokenIn } from '../support/console-in-process.ts';
import { observed } from '../support/observed.ts';

const PAY = { step: 'pay', tool: 'pay', externalRef: 're-1', amount: '5.00', currency: 'EUR' };
const MAIL = { step: 'mail', tool: 'mail', externalRef: null, reason: 'irreversible' };

const opened = async (stands: object[] = [MAIL], status = 'COMPLETED') => {
  const plan: { status: string; undo: object[]; stands: object[] } = { status, undo: [PAY], stands };
  const { fetchPage, enter, calls } = made({
    'describe-saga': () => observed({ sagaId: 's' }),
    'operate-saga': ({ dryRun }: { dryRun?: boolean }) => {
      if (dryRun !== true) return { sagaId: 's', status: 'COMPENSATING' };
      return {
        sagaId: 's',
        status: plan.status,
        plan: { undo: plan.undo, stands: plan.stands },
        residue: 'now',
      };
    },
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s/undo', { headers: { cookie } })).text();
  const digest = /name="digest" value="(.*?)"/.exec(text)?.[1] ?? '';
  const send = (fields: Record<string, string>) =>
    fetchPage('/sagas/s/undo', {
      headers: { cookie, origin: ORIGIN },
      form: { form_token: tokenIn(text), once: 'once', digest, ...fields },
    });
  const done = () =>
    calls
      .filter(({ name }) => name === 'operate-saga')
      .map(({ input }) => input)
      .filter((input) => !JSON.stringify(input).includes('dryRun'));
  return { text, plan, send, done };
};

test('the plan says what is undone and what stays, and exactly that is asked for', async () => {
  const { text, send, done } = await opened();
  expect(text).toMatch(/5\.00.*EUR.*re-1.*is undone/s);
  expect(text).toMatch(/mail.*stands.*irreversible/s);
  expect(text).toContain('Nothing takes back 1 effect named above');
  // Who lets something stand says why.
  expect(text).toMatch(/<input id="evidence" [^>]*required/);
  const answer = await send({ residue: 'accepted', evidence: 'wrong order' });
  expect(answer.headers.get('location')).toBe('/sagas/s');
  expect(done()).toMatchObject([
    { sagaId: 's', action: 'undo', acceptResidue: true, residue: 'now', evidence: 'wrong order' },
  ]);
});

test('without the tick nothing is accepted, and where nothing stays there is none', async () => {
  const some = await opened();
  await some.send({});
  expect(some.done()).toMatchObject([{ action: 'undo' }]);
  expect(some.done()[0]).not.toHaveProperty('acceptResidue');
  expect(some.done()[0]).not.toHaveProperty('residue');
  const none = await opened([]);
  expect(none.text).not.toContain('type="checkbox"');
  expect(none.text).toMatch(/<input id="evidence" (?![^>]*required)/);
});

test('what changed meanwhile is shown again, and nothing is done', async () => {
  const { plan, send, done } = await opened();
  plan.stands = [MAIL, { ...MAIL, step: 'again' }];
  expect(await (await send({ residue: 'accepted' })).text()).toContain('Nothing takes back 2 effects');
  expect(done()).toEqual([]);
});

test('one whose undo was asked for already has no form', async () => {
  const { text } = await opened([], 'COMPENSATING');
  expect(text).toContain('Its undo was asked for already');
  expect(text).not.toContain('Undo exactly this');
});

test.each([
  ['a completed saga', {}, true],
  ['one that runs', { status: 'RUNNING' }, false],
  ['a step of another', { parent: { sagaId: 'p', root: 'p', sealed: true } }, false],
])('the page of %s leads there: %o %s', async (_what, seen, leads) => {
  const { fetchPage, enter } = made({
    'describe-saga': () => observed({ status: 'COMPLETED', ...seen }),
    'query-ledger': () => ({ entries: [], cursor: '2' }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  expect(text.includes('href="/sagas/s/undo"')).toBe(leads);
});
