/** What the page of a saga says of its steps, and of those below. */
import { expect, test } from 'vitest';
import { made } from '../support/console-in-process.ts';
import { AT, observed } from '../support/observed.ts';

test('what was left below is listed with the saga that has it, and is not taken for a step of this one', async () => {
  const below = { tool: 'part', externalRef: 'ref-1', path: 'c', sagaId: 's.c' };
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({
        status: 'COMPENSATED',
        committed: [{ step: 'q', tool: 'pay', externalRef: 're-1' }],
        compensated: [{ ...below, step: 'q', residue: 'a fee stays' }],
        notCompensated: [{ ...below, step: 'q', reason: 'skipped by an operator: it may stay' }],
        advice: 'The saga was undone except for what is listed.',
      }),
    'query-ledger': () => ({
      entries: [
        { step: 'q', direction: 'forward', status: 'started', seq: 1, at: AT, actor: 'engine', detail: '{}' },
      ],
      // So the page does not verify it.
      cursor: '2',
    }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  const rows = [...text.matchAll(/<tr [^>]*>.*?<\/tr>/gs)]
    .map(([row]) => row)
    .filter((row) => /stands|undone/.test(row));
  expect(rows).toHaveLength(3);
  const [own = '', undone = '', left = ''] = rows;
  expect(own).toContain('stands');
  expect(own).not.toContain('/sagas/s.c');
  expect(undone).toMatch(/undone in part.*a fee stays/s);
  expect(left).toContain('skipped by an operator: it may stay');
  for (const row of [undone, left]) expect(row).toContain('href="/sagas/s.c"');
});

test('what a saga below has more than is listed here is counted beside it, and so are approvals below', async () => {
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({
        status: 'COMPENSATION_FAILED',
        children: [
          { path: 'a', sagaId: 's.a', status: 'COMPENSATION_FAILED', notListed: 4, residueNotListed: 5 },
          { path: 'b', sagaId: 's.b', status: 'COMPENSATED' },
        ],
        awaitingBelow: [{ path: 'c', sagaId: 's.c', tool: 'mail', until: AT }],
        awaitingBelowNotListed: 2,
      }),
    'query-ledger': () => ({ entries: [], cursor: '2' }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  expect(text.match(/4 more stand · 5 more left something/g)).toHaveLength(1);
  expect(text).toContain('2 more approvals are waited for below');
});

test('a step that was let stand and took effect again after a rewind is listed twice', async () => {
  const mail = { step: 'mail', tool: 'mail', externalRef: null, amount: '5.00', currency: 'EUR' };
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({
        committed: [{ ...mail, epoch: 1 }],
        notCompensated: [{ ...mail, reason: 'irreversible, and accepted', accepted: true }],
      }),
    'query-ledger': () => ({ entries: [], cursor: '2' }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  const rows = [...text.matchAll(/<tr [^>]*>.*?<\/tr>/gs)]
    .map(([row]) => row)
    .filter((row) => row.includes('mail'));
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatch(/epoch 1.*stands/s);
  expect(rows[1]).toContain('not undone');
});

test('tries are those of the epoch of the line, and of a rejected step all', async () => {
  const row = { seq: 1, at: AT, actor: 'engine', status: 'started' };
  const tried = (step: string, direction: string, epoch: number) => ({
    ...row,
    step,
    direction,
    detail: JSON.stringify({ epoch }),
  });
  const pay = { step: 'pay', tool: 'pay', externalRef: null };
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({
        committed: [{ ...pay, epoch: 1 }],
        compensated: [pay],
        rejected: [{ step: 'no', tool: 'no', error: { name: 'Refused', message: 'no' } }],
      }),
    'query-ledger': () => ({
      entries: [
        ...[0, 0, 0, 1].map((epoch) => tried('pay', 'forward', epoch)),
        ...[0, 0].map((epoch) => tried('pay', 'undo', epoch)),
        tried('no', 'forward', 1),
      ],
      cursor: '2',
    }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  const triesIn = (what: string) => {
    const row = [...text.matchAll(/<tr [^>]*>.*?<\/tr>/gs)].find(([one]) => one.includes(what))?.[0] ?? '';
    return [...row.matchAll(/<td [^>]*class="number"[^>]*><div>([^<]*)</g)]
      .map(([, cell]) => cell?.trim())
      .slice(1);
  };
  expect(['stands', 'undone', 'rejected'].map(triesIn)).toEqual([
    ['1', ''],
    ['3', '2'],
    ['1', ''],
  ]);
});

test('the twin of its page has its locks and whether its ledger is as it was written, as the page has', async () => {
  const locks = [{ resourceKey: 'order/1', sagaId: 's', since: AT, fencingToken: 3, waiting: ['t'] }];
  const { fetchPage, enter } = made({
    'describe-saga': () => observed({ status: 'RUNNING' }),
    'query-ledger': () => ({ entries: [], evidence: { findings: [] } }),
    'list-locks': () => ({ locks }),
  });
  const { cookie } = await enter();
  const twin = await (await fetchPage('/sagas/s?format=json', { headers: { cookie } })).json();
  expect(twin).toMatchObject({ saga: { status: 'RUNNING' }, entries: [], locks, check: { ok: false } });
  const ledger = await (await fetchPage('/ledger?saga=s&format=json', { headers: { cookie } })).json();
  expect(ledger).toMatchObject({ entries: [], check: { ok: false, findings: [{ sagaId: 's' }] } });
});

test('the page of a saga that holds more locks than are listed says so', async () => {
  const locks = [{ resourceKey: 'order/1', sagaId: 's', since: AT, fencingToken: 3, waiting: [] }];
  const { fetchPage, enter } = made({
    'describe-saga': () => observed({ status: 'RUNNING' }),
    'query-ledger': () => ({ entries: [], evidence: { findings: [] } }),
    'list-locks': () => ({ locks, cursor: 'more' }),
  });
  const { cookie } = await enter();
  const page = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  expect(page).toContain('Cut here, after the first 1 lock.');
  const twin = await (await fetchPage('/sagas/s?format=json', { headers: { cookie } })).json();
  expect(twin).toMatchObject({ locks, locksCursor: 'more' });
});

test('a saga that no step turned back says why without a gap, and that no reason was given', async () => {
  const error = { name: 'Undone', message: 'The finished saga was undone.' };
  const { fetchPage, enter } = made({
    'describe-saga': () => observed({ status: 'COMPENSATED', failed: { step: null, error, by: 'rita' } }),
    'query-ledger': () => ({ entries: [], cursor: '2' }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  const [, card = ''] = /<h2>Turned back<\/h2>(.*?)<\/section>/s.exec(text) ?? [];
  expect(card.replaceAll(/<[^>]*>/g, '')).toBe(
    'Undone: The finished saga was undone.by rita, a name that nobody proved: no reason given',
  );
});

test('who approved a step of a completed saga is named with the proof, and so is who wrote an entry', async () => {
  const proven = { by: 'rita@example.com', proof: 'https://id.example u-1', at: AT };
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({
        status: 'COMPLETED',
        approvals: [
          { step: 'pay', decision: 'approved', ...proven },
          { step: 'mail', epoch: 1, decision: 'declined', by: 'bob', proof: 'claimed', at: AT },
        ],
        approvalsNotListed: 3,
      }),
    'query-ledger': () => ({
      entries: [
        {
          step: 'pay',
          direction: 'approval',
          status: 'approved',
          seq: 1,
          at: AT,
          actor: 'rita@example.com',
          detail: '{}',
          proof: 'https://id.example u-1',
        },
      ],
      cursor: '2',
    }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  const rows = [...text.matchAll(/<tr [^>]*>.*?<\/tr>/gs)].map(([row]) => row);
  expect(rows.filter((row) => row.includes('https://id.example u-1'))).toHaveLength(2);
  expect(rows.find((row) => row.includes('bob'))).toMatch(/mail.*epoch 1.*declined.*claimed/s);
  expect(text).toContain('Cut here: 3 earlier approvals in the ledger.');
});

test('people are told what they can do, and nothing that is said to the model', async () => {
  const { fetchPage, enter } = made({
    'describe-saga': () =>
      observed({ status: 'COMPENSATION_FAILED', advice: 'Do not retry; report the references.' }),
    'query-ledger': () => ({ entries: [], cursor: '2' }),
    'list-locks': () => ({ locks: [] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sagas/s', { headers: { cookie } })).text();
  expect(text).not.toContain('report the references');
  expect(text).toContain('try its compensator again, record how it was undone by hand');
  expect(text).toContain('<h2>Not undone</h2>');
});

test.each([
  {
    alert: {
      status: 'refused',
      at: AT,
      refusals: 3,
      error: { name: 'SNS.NotFoundException', message: 'gone' },
    },
    says: /class="card stop"><bdi[^>]*>Nobody was alerted: the alert topic refused the alert 3 times.*SNS\.NotFoundException: gone/,
  },
  {
    alert: { status: 'delivered', at: AT },
    says: /class="hint"><bdi[^>]*>The alert topic took the alert \(/,
  },
  {
    alert: { status: 'unknown' },
    says: /class="hint"><bdi[^>]*>It is not known yet whether anybody was alerted/,
  },
])(
  'a failed saga says whether operators were alerted, on its page and in the queue: $alert.status',
  async ({ alert, says }) => {
    const saga = observed({ sagaId: 's', status: 'COMPENSATION_FAILED', alert });
    const { fetchPage, enter } = made({
      'describe-saga': () => saga,
      'query-ledger': () => ({ entries: [], cursor: '2' }),
      'list-locks': () => ({ locks: [] }),
      'list-sagas': ({ status }) => ({ sagas: status === saga.status ? [saga] : [] }),
    });
    const { cookie } = await enter();
    for (const page of ['/sagas/s', '/queue']) {
      expect(await (await fetchPage(page, { headers: { cookie } })).text(), page).toMatch(says);
    }
  },
);
