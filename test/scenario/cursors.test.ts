/** Every list takes the cursors that it gave, and refuses all others by name: of other lists, changed, made up. */
import { afterAll, beforeAll, expect } from 'vitest';
import { FUNCTIONS } from '../../contract/functions.ts';
import { FunctionFailure } from '../support/cloud.ts';
import { exclusiveTool, workOn } from '../support/exclusive-tool.ts';
import { serveHttpTools } from '../support/http-tools.ts';
import { addOrder, type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { openWorld, shell } from '../support/world.ts';

const test = inTurn('cursors');

const SESSION = 's1';
const TODAY = new Date().toISOString().slice(0, 10);
const DAYS = { from: '2026-01-01', to: TODAY };

interface List {
  name: string;
  input: Record<string, unknown>;
  /** Of a list that has them: how many there are at least, one a page. */
  gives?: number;
  /** One that another `limit` would give. */
  isPossible?: (cursor: string) => boolean;
}

/** Inside one day, all views go by the same index. */
const isOfDay = (cursor: string): boolean => cursor.startsWith(`${TODAY}|`) && dayCursors().has(cursor);
const isOfDays = (cursor: string): boolean => cursor === `${TODAY}|` || isOfDay(cursor);
const dayCursors = (): Set<string> =>
  new Set([...given.entries()].flatMap(([key, cursors]) => (key.includes(`"${TODAY}"`) ? cursors : [])));

/** Where no saga is begun, the place in the index is all there is. */
const isOfStatus = (cursor: string): boolean =>
  given.get(keyOf({ name: 'list-sagas', input: { status: 'COMPLETED' } }))?.includes(cursor) === true;

const isNumber = (most: number) => (cursor: string) => /^[1-9]\d*$/.test(cursor) && Number(cursor) <= most;

const disposal = new AsyncDisposableStack();
let sagas: SagaCloud;
let externalRef: string;
let entries: number;
const given = new Map<string, string[]>();

const lists = (): List[] => [
  { name: 'timeline', input: { sessionId: SESSION }, gives: 4 },
  { name: 'timeline', input: { sessionId: SESSION, brief: true }, gives: 4 },
  { name: 'changes', input: { sessionId: SESSION, messageId: 'long' }, gives: 2 },
  { name: 'changes', input: { sessionId: SESSION, checkpointId: newest } },
  { name: 'list-sessions', input: {}, gives: 2 },
  // Its pages have megabytes: test/contract/aws-words.test.ts.
  { name: 'search-sessions', input: { words: 'a' } },
  { name: 'list-sagas', input: { status: 'COMPLETED' }, gives: 2 },
  { name: 'list-sagas', input: { sessionId: SESSION }, gives: 2 },
  { name: 'list-sagas', input: { sessionId: SESSION, status: 'COMPLETED' }, gives: 2 },
  { name: 'list-sagas', input: {} },
  { name: 'list-locks', input: {}, gives: 1 },
  { name: 'list-locks', input: { sagaId: 'one' } },
  { name: 'query-ledger', input: { sagaId: 'one' }, gives: 3, isPossible: isNumber(entries) },
  {
    name: 'query-ledger',
    input: { sagaId: 'one', view: 'effects' },
    gives: 1,
    isPossible: isNumber(entries),
  },
  { name: 'query-ledger', input: { sagaId: 'one', evidence: true }, gives: 3 },
  { name: 'query-ledger', input: { day: TODAY }, gives: 9, isPossible: isOfDay },
  { name: 'query-ledger', input: { day: TODAY, evidence: true }, gives: 9 },
  { name: 'query-ledger', input: { day: TODAY, view: 'effects' }, gives: 3, isPossible: isOfDay },
  { name: 'query-ledger', input: DAYS, gives: 9, isPossible: isOfDays },
  { name: 'query-ledger', input: { status: 'COMPLETED' }, gives: 9, isPossible: isOfStatus },
  { name: 'query-ledger', input: { externalRef } },
  { name: 'query-ledger', input: { externalRef, view: 'effects' } },
  { name: 'query-ledger', input: { ...DAYS, view: 'totals' }, isPossible: isOfDays },
  { name: 'query-ledger', input: { anchorsOf: TODAY } },
  { name: 'export-ledger', input: DAYS, isPossible: isOfDays },
];
const keyOf = ({ name, input }: List): string => `${name} ${JSON.stringify(input)}`;

const isLimited = ({ name }: List): boolean => name !== 'changes' && name !== 'export-ledger';

const ask = (list: List, cursor: string | undefined) =>
  sagas.cloud.invoke(list.name, {
    ...list.input,
    ...(isLimited(list) && { limit: 1 }),
    ...(cursor !== undefined && { cursor }),
  });

/** Whatever they are asked for; an answer may be empty and have one. */
const cursorsOf = async (list: List): Promise<string[]> => {
  const cursors: string[] = [];
  for (let cursor: string | undefined; ; cursors.push(cursor)) {
    ({ cursor } = (await ask(list, cursor)) as { cursor?: string });
    if (cursor === undefined) return cursors;
  }
};

let newest = '';
beforeAll(async () => {
  sagas = await startSagaCloud();
  disposal.defer(() => sagas.close());
  const { cloud } = sagas;
  const world = await openWorld(cloud, { sessionId: SESSION, paths: ['api'] });
  for (const sessionId of ['s2', 's3'])
    await cloud.invoke('start-session', {
      sessionId,
      sandboxId: world.sandboxId,
      projectsRoot: '/home/user/work',
    });
  await world.checkpoint('first');
  // What a page of changes has no room for together.
  for (const n of [1, 2, 3]) {
    shell(world.root, `seq ${n}000000 ${n}300000 > api/long.txt`);
    newest = (await world.checkpoint(`long-${n}`, 'long')).checkpointId;
  }
  for (const sagaId of ['one', 'two', 'three']) {
    addOrder(sagas.server, sagaId);
    await cloud.invoke('start-saga', {
      sagaId,
      definition: { name: 'refund' },
      input: { orderId: sagaId },
      requestedBy: 'agent-7',
      sessionId: SESSION,
    });
    expect(await sagas.observe(sagaId)).toMatchObject({ status: 'COMPLETED' });
  }
  // Two that hold a lock each.
  const served = await serveHttpTools(cloud, [exclusiveTool()]);
  disposal.defer(() => void served.close());
  for (const sagaId of ['holds', 'holds-too']) {
    await cloud.invoke('start-saga', workOn(sagaId, sagaId, { approval: true }));
    expect(await sagas.observe(sagaId)).toMatchObject({ status: 'AWAITING' });
  }
  for (const sagaId of ['open', 'open-too'])
    await cloud.invoke('start-saga', { sagaId, interactive: { onIdle: 'ask' }, requestedBy: 'agent-7' });
  const { rows } = await sagas.rows('one');
  entries = rows.length;
  externalRef = rows.find(({ external_ref: ref }) => ref !== null)?.external_ref ?? '';
  for (const list of lists()) given.set(keyOf(list), await cursorsOf(list));
});
afterAll(() => disposal.disposeAsync());

test('every function that takes a cursor is asked here', () => {
  const taking = Object.entries(FUNCTIONS).flatMap(([name, row]) =>
    'input' in row && 'cursor' in shapeOf(row.input()) ? [name] : [],
  );
  expect([...new Set(lists().map(({ name }) => name))].toSorted()).toEqual(taking.toSorted());
});

const shapeOf = (schema: unknown): object =>
  typeof schema === 'object' && schema !== null && 'shape' in schema ? (schema.shape as object) : {};

/** A character more or less, another one, another number, and what looks like one. */
const changed = (cursor: string): string[] => {
  const at = Math.floor(cursor.length / 2);
  const other = cursor[at] === '7' ? '8' : '7';
  return [
    `${cursor}0`,
    `${cursor} `,
    ` ${cursor}`,
    cursor.slice(0, -1),
    `${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`,
    cursor.replace(/\d+$/, (digits) => `0${digits}`),
    cursor.replace(/\d+$/, (digits) => String(Number(digits) + 1000)),
    cursor.replace(/\d+$/, '0'),
    cursor.toUpperCase(),
  ];
};

const STRANGE = ['', 'x', '0', '1', '-1', '999', '1e3', '|', `${TODAY}|`, '2026-13-01|', 'null', '{}'];
const NUMBERED = ['before', 'after', 'at', 'in'].flatMap((name) =>
  ['0', '1', '01', '999', '', 'x'].map((number) => `${name}-${number}`),
);

const SEALED = /\.[0-9a-f]{12}$/;

/** What it says to a cursor that it did not give. */
const refusal = async (list: List, cursor: string): Promise<string> => {
  try {
    await ask(list, cursor);
    return 'answered';
  } catch (error) {
    if (error instanceof FunctionFailure) return error.message;
    throw error;
  }
};

test('each list refuses what it did not give', async () => {
  let asked = 0;
  const wrong: string[] = [];
  const others = [...given.values()].flatMap((cursors) => cursors.slice(0, 2));
  for (const list of lists()) {
    const own = given.get(keyOf(list)) ?? [];
    if (own.length < (list.gives ?? 0)) wrong.push(`${keyOf(list)} gave ${own.length}`);
    const made = [...own.slice(0, 2), ...own.slice(-1)].flatMap(changed);
    for (const cursor of new Set([...STRANGE, ...NUMBERED, ...others, ...made])) {
      if (own.includes(cursor) || list.isPossible?.(cursor) === true) continue;
      asked += 1;
      const said = await refusal(list, cursor);
      if (!said.startsWith('InvalidInput: cursor: ')) wrong.push(`${keyOf(list)} ${cursor}: ${said}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(asked).toBeGreaterThan(1000);
});

test('a cursor without its seal is refused', async () => {
  let asked = 0;
  for (const list of lists()) {
    for (const cursor of (given.get(keyOf(list)) ?? []).filter((one) => SEALED.test(one))) {
      asked += 1;
      const said = await refusal(list, cursor.replace(SEALED, ''));
      expect(said, `${keyOf(list)} ${cursor}`).toMatch(/^InvalidInput: cursor: /);
    }
  }
  expect(asked).toBeGreaterThan(0);
});
