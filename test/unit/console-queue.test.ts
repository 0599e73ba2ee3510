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
