/** What pages make of answers that a sandbox, a model or a tool wrote, and of forms and addresses that no page of ours has. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { FUNCTION_ROWS } from '../../contract/functions.ts';
import { made, NO_SAGA, ORIGIN, session, tokenIn } from '../support/console-in-process.ts';

const TEXT = `<img src=x onerror="alert(1)">' \u202egnp.exe\u0007 ada@\u200bexa\u2060mple.com \u200f\u{e0041}`;
/** None of it may reach a page as it is. */
const RAW = /<img|[\p{Cf}--\u{200c}]|(?!\n)\p{Cc}/v;

type Schema = Record<string, unknown>;
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
const schemas = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

/** What people, and programs that tools run, say in several lines. */
const OF_LINES = /^(?:message|reason|evidence|error|text|summary|residue|byHand)$/;
const LINES = 'The first line\r\nthe second line\nthe third line\n';

/** An answer of that shape with everything in it that there can be, and every text hostile. */
const hostile = (schema: Schema, name = '', lines = TEXT): unknown => {
  const [first] = schemas(schema['anyOf'] ?? schema['oneOf']).filter(({ type }) => type !== 'null');
  if (first !== undefined) return hostile(first, name, lines);
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const { type, items, properties, additionalProperties } = schema;
  if (type === 'array') return [hostile(isSchema(items) ? items : {}, name, lines)];
  if (isSchema(properties)) {
    return Object.fromEntries(
      Object.entries(properties)
        // A page would go on to the next one for ever.
        .filter(([key]) => key !== 'cursor')
        .map(([key, value]) => [
          key,
          // The reason of a checkpoint is one line: the function takes no other.
          hostile(
            isSchema(value) ? value : {},
            key,
            'checkpointId' in properties && key === 'reason' ? TEXT : lines,
          ),
        ]),
    );
  }
  if (type === 'object')
    return { [TEXT]: isSchema(additionalProperties) ? hostile(additionalProperties, '', lines) : TEXT };
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return 1;
  // These are read as numbers and as JSON.
  if (/^(?:amount|undone|net|byHand)$/.test(name)) return '1.00';
  if (name === 'detail') return JSON.stringify({ person: TEXT });
  return /(?:At|since|until|_at)$/.test(name) || name === 'at'
    ? '2026-01-02T10:00:00.000Z'
    : OF_LINES.test(name)
      ? lines
      : TEXT;
};

const answersWith = (lines: string) =>
  Object.fromEntries(
    FUNCTION_ROWS.flatMap(({ name, answer }) =>
      answer === undefined
        ? []
        : [
            [
              name,
              () => hostile(z.toJSONSchema(answer(), { io: 'output', unrepresentable: 'any' }), '', lines),
            ],
          ],
    ),
  );
const answers = answersWith(TEXT);

const PAGES = [
  '/',
  '/sessions/s',
  `/sessions/s?message=${encodeURIComponent(TEXT)}`,
  '/sessions/s/plan?message=m',
  '/sessions/s/plan?scope=message&message=m',
  '/sessions/s/plan?scope=all&message=m',
  '/sessions/s/bisect',
  '/sessions/s/compare',
  '/sessions/s/compare?from=a&to=b',
  '/queue',
  '/sagas',
  '/sagas/s',
  '/sagas/s/undo',
  '/ledger',
  '/ledger?view=effects',
  '/ledger?view=totals',
  '/ledger?saga=s',
  '/search?q=img',
  '/catalog',
];

const ACTS: Readonly<Record<string, Record<string, string>>> = {
  '/sessions/s/rollback': { checkpoint: 'c', request: 'r' },
  '/sessions/s/revert': { message: 'm', request: 'r' },
  '/sessions/s/rewind': { message: 'm', request: 'r', digest: 'of-before' },
  '/sessions/s/bisect': { command: 'true', request: 'r' },
  '/sessions/s/copy': { message: 'm', request: 'r' },
  '/queue/answer': { saga: 's', step: 't', decision: 'approve' },
};

/** What a reader sees; the values of fields go back as they came. */
const rawIn = (seen: string): string | undefined => {
  const { index } = RAW.exec(seen) ?? {};
  return index === undefined ? undefined : seen.slice(Math.max(0, index - 150), index + 20);
};

const seenOf = (page: string): string => page.replaceAll(/ value="[^"]*"/g, '');

describe('an answer in which every text is hostile', () => {
  const open = async (given = answers) => {
    const { fetchPage, enter } = made(given, { patienceMs: 60_000 });
    const { cookie } = await enter();
    return { fetchPage, cookie };
  };

  test.each(PAGES)('is text on %s, and what works without being seen is seen', async (path) => {
    const { fetchPage, cookie } = await open();
    const page = await fetchPage(path, { headers: { cookie } });
    const text = await page.text();
    expect(page.status, text).toBe(200);
    expect(text).toContain('&lt;img');
    expect(rawIn(seenOf(text))).toBeUndefined();
  });

  test.each(PAGES)('has on %s the lines that somebody wrote, and no signs for them', async (path) => {
    const { fetchPage, cookie } = await open(answersWith(LINES));
    const page = await fetchPage(path, { headers: { cookie } });
    expect(page.status).toBe(200);
    const signs = seenOf(await page.text()).match(/.{0,100}(?:\\n|\^M).{0,20}/g);
    expect(signs).toBeNull();
  });

  test.each(Object.entries(ACTS))('is text in the answer of %s', async (path, fields) => {
    const { fetchPage, cookie } = await open();
    const form_token = tokenIn(await (await fetchPage('/queue', { headers: { cookie } })).text());
    const page = await fetchPage(path, {
      headers: { cookie, origin: ORIGIN },
      form: { form_token, ...fields },
    });
    const text = await page.text();
    expect(page.status, text).toBe(200);
    expect(rawIn(seenOf(text))).toBeUndefined();
  });
});

describe('a form or an address that no page of ours has', () => {
  const NOTHING = { 'list-sagas': () => ({ sagas: [] }), 'query-ledger': () => ({ entries: [] }) };

  test.each<[string, Record<string, string>, string]>([
    ['/queue/answer', { saga: 's', step: 't' }, 'decision: give one of approve, reject'],
    ['/queue/answer', { saga: 's', step: 't', decision: 'aprove' }, 'decision: give one of approve, reject'],
    [
      '/queue/operate',
      { saga: 's', step: 't', action: 'cancel' },
      'action: give one of retry, resolve, skip',
    ],
    ['/sessions/s/rewind', { message: 'm', request: 'r', scope: 'file' }, 'scope: give one of all, effects'],
  ])('%s with %j is refused, and nothing is done', async (path, fields, message) => {
    const { fetchPage, enter, calls } = made(answers);
    const { cookie } = await enter();
    const form_token = tokenIn(await (await fetchPage('/queue', { headers: { cookie } })).text());
    expect(form_token).not.toBe('');
    const asked = calls.length;
    const answer = await fetchPage(path, {
      headers: { cookie, origin: ORIGIN },
      form: { form_token, ...fields },
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
    expect(calls).toHaveLength(asked);
  });

  test.each([
    ['/sagas?status=running', 'status: give one of'],
    ['/ledger?view=total', 'view: give one of entries, effects, totals'],
    ['/ledger.csv?view=total', 'view: give one of entries, effects, totals'],
    ['/sessions/s/plan?message=m&scope=file', 'scope: give one of files, all, message, effects'],
  ])('%s is refused, and shows nothing that was not meant', async (path, message) => {
    const { fetchPage, enter, calls } = made(NOTHING);
    const { cookie } = await enter();
    const answer = await fetchPage(path, { headers: { cookie } });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
    expect(calls).toEqual([]);
  });

  test.each([
    [
      '/ledger?saga=s&status=committed&from=2026-01-01&to=2026-01-02',
      'All of this saga is shown, whatever its days, status',
    ],
    ['/ledger?ref=re_1&status=committed', 'All of this reference is shown, whatever its status'],
    ['/ledger?saga=s&ref=re_1', 'All of this saga is shown, whatever its reference'],
  ])('%s: a filter that is not looked at is said', async (path, hint) => {
    const { fetchPage, enter } = made({
      'query-ledger': () => ({ entries: [], evidence: { head: null, findings: [] } }),
    });
    const { cookie } = await enter();
    expect(await (await fetchPage(path, { headers: { cookie } })).text()).toContain(hint);
  });
});

test('a timeline says what made a checkpoint, and takes no merge and no undo point for work of a message', async () => {
  const at = (seq: number, reason: string, more: object = {}) => ({
    checkpointId: `cp-0000000${seq}-0123abcd`,
    seq,
    epoch: 1,
    complete: true,
    parentSeq: seq - 1,
    messageId: 'msg-1',
    toolExecutionId: `t-${seq}`,
    reason,
    detached: false,
    onHeadPath: true,
    createdAt: '2026-01-02T10:00:00.000Z',
    repositories: [],
    failures: [],
    skipped: [],
    lines: { added: 1, deleted: 0 },
    ...more,
  });
  const { fetchPage, enter } = made({
    timeline: () => ({
      session: session('s'),
      messages: [{ messageId: 'msg-1', order: 1, checkpointId: 'cp-00000002-0123abcd', discarded: false }],
      checkpoints: [
        at(6, 'rollback', { by: { name: 'rita' } }),
        at(5, 'revert'),
        at(4, 'merge'),
        at(3, 'rollback'),
        at(2, 'before-tool'),
      ],
    }),
    changes: () => ({ checkpoints: [] }),
    ...NO_SAGA,
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sessions/s', { headers: { cookie } })).text();
  for (const told of [
    'undo point: what was there before a rollback or revert by rita (claimed)',
    'took back one message',
    'merged the work of another session',
    'undo point: what was there before a rollback, revert or merge',
  ])
    expect(text).toContain(told);
  expect(text.match(/aria-current="true"/g)).toHaveLength(1);
  const other = await (await fetchPage('/sessions/s?message=msg-9', { headers: { cookie } })).text();
  expect(other).toContain('There is no message');
});

test('a message whose sagas do not fit on its page leads on to the others', async () => {
  const effect = {
    sagaId: 'g',
    status: 'COMPLETED',
    messageId: 'm1',
    step: 'pay',
    tool: 'pay',
    reversible: true,
  };
  const { fetchPage, enter, calls } = made({
    timeline: () => ({
      session: session('s'),
      messages: [{ messageId: 'm1', order: 1, checkpointId: 'cp-00000002-0123abcd', discarded: false }],
      checkpoints: [],
    }),
    changes: () => ({ checkpoints: [] }),
    'list-sagas': ({ cursor }: { cursor?: string }) => ({
      sagas: [],
      effects: [{ ...effect, stands: true, externalRef: cursor === undefined ? 're_1' : 're_2' }],
      ...(cursor === undefined ? { cursor: 'after-50' } : {}),
    }),
  });
  const { cookie } = await enter();
  const page = async (path: string) => (await fetchPage(path, { headers: { cookie } })).text();
  const first = await page('/sessions/s?message=m1');
  expect(first).toContain('re_1');
  const [, link = ''] = /href="([^"]*outside=[^"]*)"/.exec(first) ?? [];
  const second = await page(link.replaceAll('&amp;', '&'));
  expect(second).toContain('re_2');
  expect(second).not.toContain('what further sagas');
  expect(calls).toContainEqual({
    name: 'list-sagas',
    input: { sessionId: 's', messageId: 'm1', subject: true, limit: 50, cursor: 'after-50' },
  });
});

test('a message whose checkpoints are on another page of the timeline has no line that ends with a dot', async () => {
  const message = { messageId: 'msg-1', order: 1, checkpointId: 'cp-00000002-0123abcd', discarded: false };
  const { fetchPage, enter } = made({
    timeline: () => ({ session: session('s'), messages: [message], checkpoints: [] }),
    changes: () => ({ checkpoints: [] }),
    ...NO_SAGA,
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/sessions/s?message=msg-1', { headers: { cookie } })).text();
  expect(text).toMatch(/<p class="meta">\s*<code[^>]*>msg-1<\/code><\/p>/);
});

test('the plan of a rewind says where it would stop, and not that nothing is left there', async () => {
  const saga = { sagaId: 's', epoch: 0, after: null, plan: { undo: [], stands: [] } };
  const { fetchPage, enter } = made({
    rewind: () => ({
      requestId: 'r',
      status: 'PLANNED',
      sagas: [
        { ...saga, status: 'COMPENSATION_FAILED' },
        { ...saga, sagaId: 't', status: 'COMPENSATED' },
      ],
    }),
  });
  const { cookie } = await enter();
  const text = await (
    await fetchPage('/sessions/s/plan?scope=all&message=m', { headers: { cookie } })
  ).text();
  expect(text.match(/The rewind stops here/g)).toHaveLength(1);
  expect(text.match(/Nothing is left to take back/g)).toHaveLength(1);
});

test('two consoles of one machine, whose ports share the cookies of a browser, do not put each other out', async () => {
  const cookies = await Promise.all(
    [4500, 4501].map((port) => made(NO_SAGA, { origin: `http://127.0.0.1:${port}` }).enter()),
  );
  const [one = '', two = ''] = cookies.map(({ cookie }) => cookie.split('=')[0]);
  expect(one).not.toBe(two);
});
