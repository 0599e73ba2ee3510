/** What the page of the queue says of how much waits. */
import { expect, test } from 'vitest';
import { made } from '../support/console-in-process.ts';
import { AT, observed } from '../support/observed.ts';

const seenOf = (sagaId: string) =>
  sagaId.startsWith('ask')
    ? observed({
        sagaId,
        status: 'AWAITING',
        awaiting: { step: 'pay', tool: 'pay', version: '1', arguments: {}, prompt: 'Pay?', until: AT },
      })
    : observed({ sagaId, status: 'COMPENSATION_FAILED' });

test.each([
  [['ask-1'], [], '1 approval waits.'],
  [['ask-1', 'ask-2'], [], '2 approvals wait.'],
  [[], ['left-1'], '1 failed compensation waits.'],
  [['ask-1'], ['left-1'], '1 approval and 1 failed compensation wait.'],
  [[], [], 'Nothing waits for a person.'],
])('%j and %j: %s', async (asked, left, said) => {
  const { fetchPage, enter } = made({
    'list-sagas': ({ status }: { status: string }) => ({
      sagas: (status === 'AWAITING' ? asked : left).map((sagaId) => ({ sagaId })),
    }),
    'describe-saga': ({ sagaId }: { sagaId: string }) => seenOf(sagaId),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/queue', { headers: { cookie } })).text();
  expect(text).toContain(said);
  expect(text).not.toMatch(/\b0 (?:approval|failed)/);
});

test('it offers for each thing that is left only what can be done about it', async () => {
  const left = { tool: 'pay', externalRef: null, reason: 'no' };
  const error = { name: 'Refused', message: 'no' };
  const { fetchPage, enter } = made({
    'list-sagas': ({ status }: { status: string }) => ({
      sagas: status === 'AWAITING' ? [] : [{ sagaId: 'left-1' }],
    }),
    'describe-saga': () => ({
      ...seenOf('left-1'),
      notCompensated: [
        { ...left, step: 'failed', error },
        { ...left, step: 'mail' },
        { ...left, step: 'outer', tool: 'saga', children: true, error },
        { ...left, step: 'kept', accepted: true },
      ],
    }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/queue', { headers: { cookie } })).text();
  const offered = (action: string) =>
    [...text.matchAll(/<form.*?<\/form>/gs)].flatMap(([form]) =>
      form.includes(`value="${action}"`) ? [/name="step" value="(.*?)"/.exec(form)?.[1]] : [],
    );
  expect(offered('retry')).toEqual(['failed']);
  expect(offered('resolve')).toEqual(['failed', 'mail', 'kept']);
  expect(offered('skip')).toEqual(['failed', 'mail']);
});

test('what a step did in two epochs is worked one by one; without a rewind nothing names an epoch', async () => {
  const mail = { tool: 'mail', externalRef: null, reason: 'kept', step: 'mail', accepted: true };
  const epochsOf = async (epoch: object) => {
    const { fetchPage, enter } = made({
      'list-sagas': ({ status }: { status: string }) => ({
        sagas: status === 'AWAITING' ? [] : [{ sagaId: 'left-1' }],
      }),
      'describe-saga': () => ({
        ...seenOf('left-1'),
        ...epoch,
        notCompensated: [mail, { ...mail, epoch: 1 }, { ...mail, sagaId: 'left-1.kid', path: 'kid' }],
      }),
    });
    const { cookie } = await enter();
    const text = await (await fetchPage('/queue', { headers: { cookie } })).text();
    return [...text.matchAll(/<form.*?<\/form>/gs)].flatMap(([form]) =>
      form.includes('value="resolve"') ? [/name="epoch" value="(.*?)"/.exec(form)?.[1]] : [],
    );
  };
  expect(await epochsOf({ epoch: 1 })).toEqual(['0', '1', undefined]);
  expect(await epochsOf({})).toEqual([undefined, undefined, undefined]);
});

/** A cloud with this many of each, in pages as long as the page of the queue asks for. */
const long = (awaiting: readonly string[], failed: readonly string[]) =>
  made({
    'list-sagas': ({ status, limit, cursor = '0' }: { status: string; limit: number; cursor?: string }) => {
      const all = status === 'AWAITING' ? awaiting : failed;
      const end = Number(cursor) + limit;
      return {
        sagas: all.slice(Number(cursor), end).map((sagaId) => ({ sagaId })),
        ...(end < all.length ? { cursor: String(end) } : {}),
      };
    },
    'describe-saga': ({ sagaId }: { sagaId: string }) =>
      sagaId.startsWith('idle')
        ? observed({ sagaId, status: 'AWAITING', interactive: { what: 'next-step', asked: true } })
        : seenOf(sagaId),
  });

const many = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name}-${at}`);

test('all that waits is reached, each once, however much waits: also approvals behind sagas that nobody goes on with', async () => {
  const all = [...many('idle', 30), ...many('ask', 30)];
  const failed = many('left', 70);
  const { fetchPage, enter } = long(all, failed);
  const { cookie } = await enter();
  const found: string[] = [];
  let at: string | undefined = '/queue';
  while (at !== undefined) {
    const text = await (await fetchPage(at, { headers: { cookie } })).text();
    expect(text).not.toContain('Nothing waits');
    const cards = text.split('<section').slice(1);
    found.push(...cards.flatMap((card) => /href="\/sagas\/([^"]+)"/.exec(card)?.[1] ?? []));
    at = /href="(\/queue\?[^"]+)">More/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(found.toSorted()).toEqual([...all, ...failed].toSorted());
});

test('a saga that nobody goes on with waits for a person too', async () => {
  const { fetchPage, enter } = long(['idle-1'], []);
  const { cookie } = await enter();
  const text = await (await fetchPage('/queue', { headers: { cookie } })).text();
  expect(text).toContain('1 saga without a next step waits.');
  expect(text).toContain('people were asked');
});

test('the page of a saga leads to its own approval, wherever in the queue that is', async () => {
  const { fetchPage, enter } = long(many('idle', 300), []);
  const { cookie } = await enter();
  const text = await (await fetchPage('/queue?saga=ask-1', { headers: { cookie } })).text();
  expect(text).toContain('1 approval waits.');
  expect(text).toContain('name="saga" value="ask-1"');
  expect(text).toContain('The whole queue');
});

test('one saga that cannot be told, or is gone by then, keeps nobody from the others', async () => {
  const failing = (name: string) => {
    throw Object.assign(new Error(`${name} <b>said</b>`), { name });
  };
  const { fetchPage, enter } = made({
    'list-sagas': ({ status }: { status: string }) => ({
      sagas:
        status === 'AWAITING'
          ? [{ sagaId: 'ask-1' }, { sagaId: 'broken-1' }, { sagaId: 'gone-1' }]
          : [{ sagaId: 'broken-2' }, { sagaId: 'left-1' }],
    }),
    'describe-saga': ({ sagaId }: { sagaId: string }) => {
      if (sagaId.startsWith('broken')) return failing('LedgerBroken');
      return sagaId === 'gone-1' ? failing('SagaNotFound') : seenOf(sagaId);
    },
  });
  const { cookie } = await enter();
  const answer = await fetchPage('/queue', { headers: { cookie } });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain('1 approval and 1 failed compensation wait.');
  for (const sagaId of ['broken-1', 'broken-2']) expect(text).toContain(`href="/sagas/${sagaId}"`);
  expect(text).toContain('LedgerBroken &lt;b&gt;said');
  expect(text).not.toContain('gone-1');
  // Asked for by its name it is said.
  expect((await fetchPage('/queue?saga=gone-1', { headers: { cookie } })).status).toBe(404);
});
