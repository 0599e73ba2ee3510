/** What a page says when a read that it stands without fails: words in its place, and the rest of the page. */
import { describe, expect, test } from 'vitest';
import type { ErrorName } from '../../contract/errors.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, NASTY, NO_SAGA, ORIGIN, session, tokenIn } from '../support/console-in-process.ts';
import { observed } from '../support/observed.ts';

const PLAN = {
  status: 'PLANNED' as const,
  checkpointId: 'cp-00000001-0123abcd',
  epoch: 1,
  undoCheckpointId: null,
  repositories: [
    {
      path: 'api',
      written: 1,
      deleted: 0,
      action: 'restored' as const,
      paths: [{ path: 'price.ts', change: 'write' as const }],
    },
  ],
  discardedMessageIds: [],
  trimAfterMessageId: null,
  warnings: [],
};

const MESSAGE = {
  messageId: 'm',
  title: 'Fix the prices',
  role: 'user',
  discarded: false,
  checkpointId: 'cp-1',
};
const CHECKPOINT = {
  checkpointId: 'cp-00000001-0123abcd',
  seq: 1,
  parentSeq: null,
  messageId: 'm',
  reason: 'before-tool',
  onHeadPath: true,
  detached: false,
  complete: true,
  createdAt: '2026-01-02T10:00:00.000Z',
  repositories: [],
};

const ANSWERS = {
  ...NO_SAGA,
  'list-sessions': () => ({ sessions: [session('s')] }),
  timeline: () => ({ session: session('s'), checkpoints: [CHECKPOINT], messages: [MESSAGE] }),
  rollback: () => PLAN,
  revert: () => PLAN,
  rewind: () => ({
    status: 'PLANNED',
    sagas: [],
    files: PLAN,
    epoch: 1,
    checkpointId: PLAN.checkpointId,
  }),
  diff: () => ({ repositories: [], warnings: [] }),
  changes: () => ({ checkpoints: [] }),
  'describe-saga': () => observed({ sagaId: 's-1', status: 'RUNNING' }),
  // So the page does not verify it.
  'query-ledger': () => ({ entries: [], cursor: '2' }),
  'list-locks': () => ({ locks: [] }),
};

const failing = (name: ErrorName) => (): never => {
  throw new WalkbackError(name, `The store does not answer ${NASTY}.`);
};

const shownBy = async (path: string, answers: Parameters<typeof made>[0]) => {
  const { fetchPage, enter } = made({ ...ANSWERS, ...answers });
  const { cookie } = await enter();
  const page = await fetchPage(path, { headers: { cookie } });
  const twin = await fetchPage(path, { headers: { cookie, accept: 'application/json' } });
  return { status: page.status, text: await page.text(), data: JSON.parse(await twin.text()) };
};

const PLANS = '/sessions/s/plan?message=m&scope=';

describe.each([
  [
    'the lines of a rollback',
    `${PLANS}files`,
    'diff',
    'lines',
    'The lines that change',
    'Roll back exactly this',
  ],
  ['the lines of a rewind', `${PLANS}all`, 'diff', 'lines', 'The lines that change', 'Rewind exactly this'],
  [
    'the lines of a revert',
    `${PLANS}message`,
    'changes',
    'changes',
    'What it changed',
    'Take back exactly this',
  ],
  [
    'the title of a message',
    `${PLANS}files`,
    'timeline',
    undefined,
    'The title of this message',
    'Roll back exactly this',
  ],
  [
    'the changes of a message',
    '/sessions/s?message=m',
    'changes',
    'changes',
    'What it changed',
    'Go back to here',
  ],
  [
    'what sagas did',
    '/sessions/s?message=m',
    'list-sagas',
    'sagas',
    'What sagas did outside',
    'Go back to here',
  ],
  ['open sagas', '/', 'list-sagas', 'openSagas', 'Open sagas', 'Last change'],
  ['the locks of a saga', '/sagas/s-1', 'list-locks', 'locks', 'Its locks', 'Asked for by'],
] as const)('%s', (_, path, name, part, what, rest) => {
  test('it says what failed and what to do, as text, and shows the rest', async () => {
    const { status, text, data } = await shownBy(path, { [name]: failing('StorageUnavailable') });
    expect(status).toBe(200);
    expect(text).toContain(`${what} could not be read: `);
    expect(text).toContain('The store does not answer &lt;img');
    expect(text).toContain('What to do: ');
    expect(text).not.toContain('<img');
    expect(text).toContain(rest);
    // A program does not take it for empty.
    if (part !== undefined) expect(data.failed[part]).toMatchObject({ name: 'StorageUnavailable' });
  });

  test('it says nothing where nothing failed', async () => {
    const { status, text, data } = await shownBy(path, {});
    expect(status).toBe(200);
    expect(text).not.toContain('could not be read');
    expect(data).not.toHaveProperty('failed');
  });
});

test.each([
  ['/sessions/s?message=m', 'changes', 'CheckpointNotFound'],
  [`${PLANS}message`, 'changes', 'CheckpointNotFound'],
  ['/sessions/s?message=m', 'list-sagas', 'RoleMissing'],
  ['/', 'list-sagas', 'RoleMissing'],
  ['/sagas/s-1', 'list-locks', 'RoleMissing'],
] as const)('%s is quiet where %s answers %s, as is expected', async (path, name, error) => {
  const { status, text, data } = await shownBy(path, { [name]: failing(error) });
  expect(status).toBe(200);
  expect(text).not.toContain('could not be read');
  expect(data).not.toHaveProperty('failed');
});

test('an error that is not ours shows nothing of itself', async () => {
  const { text } = await shownBy(`${PLANS}files`, {
    diff: () => {
      throw new TypeError('secret is not a function');
    },
  });
  expect(text).toContain('The lines that change could not be read: ');
  expect(text).toContain('Something went wrong inside Walkback.');
  expect(text).not.toContain('secret');
});

test('an approval is recorded, and what could not be read after it is said', async () => {
  const { fetchPage, enter } = made({
    ...ANSWERS,
    'list-sagas': ({ status }: { status: string }) => ({
      sagas: status === 'AWAITING' ? [{ sagaId: 's-1' }] : [],
    }),
    'describe-saga': ({ waitSeconds }: { waitSeconds?: number }) =>
      waitSeconds === undefined ? observed({ sagaId: 's-1', status: 'RUNNING' }) : failing('LedgerBroken')(),
    answer: () => ({ answered: { decision: 'approve', by: 'rita', at: '2026-01-02T10:00:00.000Z' } }),
  });
  const { cookie } = await enter();
  const form = { saga: 's-1', step: 'pay', decision: 'approve', once: 'o' };
  const token = tokenIn(
    await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text(),
  );
  const text = await (
    await fetchPage('/queue/answer', {
      headers: { cookie, origin: ORIGIN },
      form: { ...form, form_token: token },
    })
  ).text();
  expect(text).toContain('Approved by');
  expect(text).toContain('What happened next could not be read: ');
  expect(text).toContain('The answer is recorded.');
});

test('a plan that fails after longer than anybody waits says so at the next look, and is made anew after that', async () => {
  let plans = 0;
  let fail = (): void => undefined;
  const { fetchPage, enter } = made(
    {
      ...ANSWERS,
      rollback: async () => {
        plans += 1;
        if (plans > 1) return PLAN;
        await new Promise<void>((resolve) => {
          fail = resolve;
        });
        return failing('SandboxUnavailable')();
      },
    },
    { patienceMs: 1 },
  );
  const { cookie } = await enter();
  const look = async () => (await fetchPage(`${PLANS}files`, { headers: { cookie } })).text();
  expect(await look()).toContain('Planning the way back …');
  fail();
  // What was begun by the page before is over by then.
  const told = await look();
  expect(told).toContain('That did not work');
  expect(told).toContain('SandboxUnavailable');
  expect(plans).toBe(1);
  await look();
  expect(plans).toBe(2);
});

describe('a message that a rollback left behind since somebody looked', () => {
  const left = (): never => {
    throw new WalkbackError(
      'WorkLeftBehind',
      'Message "m" is not on the way to where the session stands: a rollback left it behind.',
    );
  };

  test('the plan says so, what to do, and leads back', async () => {
    const { status, text } = await shownBy(`${PLANS}message`, { revert: left });
    expect(status).toBe(409);
    expect(text).toContain('a rollback left it behind');
    expect(text).toContain('What to do: nothing of it is left to take back.');
    expect(text).toContain('<a href="/sessions/s">Back to the session</a>');
    expect(text).not.toMatch(/<h\d[^>]*>WorkLeftBehind/);
  });

  test('so does the form that was sent for it, and nothing is done', async () => {
    let isLeft = false;
    const { fetchPage, enter, calls } = made({ ...ANSWERS, revert: () => (isLeft ? left() : PLAN) });
    const { cookie } = await enter();
    const plan = await (await fetchPage(`${PLANS}message`, { headers: { cookie } })).text();
    isLeft = true;
    const digest = /name="digest" value="([^"]+)"/.exec(plan)?.[1] ?? '';
    const answer = await fetchPage('/sessions/s/revert', {
      headers: { cookie, origin: ORIGIN },
      form: { form_token: tokenIn(plan), digest, message: 'm', request: 'r-1' },
    });
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('a rollback left it behind');
    expect(
      calls.filter(({ name, input }) => name === 'revert' && !JSON.stringify(input).includes('dryRun')),
    ).toEqual([]);
  });
});
