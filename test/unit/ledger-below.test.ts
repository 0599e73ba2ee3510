/** The money of a saga with those that it runs as steps: asked for one alone, the answer says that there are others. */
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { createQueryLedger } from '../../core/saga/ledger/query-ledger.ts';
import { runCommand } from '../support/recording-app.ts';
import { part, put, runTree } from '../support/tree-saga.ts';

const none = () => Promise.reject(new Error('not asked for here'));

const inner = { steps: [part('deepest')] };
const plan = {
  steps: [
    part('own'),
    { id: 'a', saga: { plan: { steps: [part('one'), { id: 'deep', saga: { plan: inner } }] } } },
    { id: 'b', branches: [{ id: 'x', plan: { steps: [part('two'), put('free')] } }] },
  ],
};

let answers: { 'walkback-query-ledger': (asked: QueryLedgerInput) => Promise<unknown> };

beforeAll(async () => {
  const { saga, status } = await runTree({ plan });
  expect(status).toBe('COMPLETED');
  const audit = { head: none, pins: none, entries: none, has: none, day: none };
  const query = createQueryLedger({ store: saga.store, audit, readAnchors: none, clock: saga.clock });
  answers = { 'walkback-query-ledger': query };
});

const NOTE = /it runs 2 sagas as steps, and what they did is not in this: add --below/;

describe('of the saga alone', () => {
  test.each(['--effects', '--totals'])('%s says that there are others', async (view) => {
    const of = ['ledger', 'query', '--saga', 'root', view];
    const { stdout } = await runCommand([...of, '--json'], { answers });
    expect(JSON.parse(stdout)).toMatchObject({ below: ['root.a', 'root.b.x'] });
    expect((await runCommand(of, { answers })).stderr).toMatch(NOTE);
  });

  test('the same as a file', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-below-'));
    const file = join(directory.path, 'ledger.csv');
    const { stderr } = await runCommand(['ledger', 'export', '--saga', 'root', '--effects', file], {
      answers,
    });
    expect(stderr).toMatch(NOTE);
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  test('one without any says nothing', async () => {
    const of = ['ledger', 'query', '--saga', 'root.a.deep', '--totals'];
    expect(JSON.parse((await runCommand([...of, '--json'], { answers })).stdout)).not.toHaveProperty('below');
    expect((await runCommand(of, { answers })).stderr).not.toContain('--below');
  });
});

describe('with --below', () => {
  const asked = (...more: string[]) =>
    runCommand(['ledger', 'query', '--saga', 'root', '--below', ...more], { answers });
  const json = async (...more: string[]) => JSON.parse((await asked(...more, '--json')).stdout);

  test('effects are of all of them, each once, and of no step that runs sagas', async () => {
    const value = await json('--effects');
    const rows: { saga_id: string; step: string }[] = value.effects;
    expect(rows.map((row) => `${row.saga_id}/${row.step}`).toSorted()).toEqual([
      'root.a.deep/deepest',
      'root.a/one',
      'root.b.x/free',
      'root.b.x/two',
      'root/own',
    ]);
    expect(value).not.toHaveProperty('below');
    expect((await asked('--effects')).stderr).not.toContain('--below');
  });

  test('sums are of the same rows', async () => {
    const value = await json('--totals');
    expect(value.totals.all).toMatchObject([
      { currency: 'EUR', effects: 4, out: { amount: '20.00' } },
      { currency: null, effects: 1 },
    ]);
    const filtered = await json('--totals', '--tool', 'put');
    expect(filtered.totals.all).toMatchObject([{ currency: null, effects: 1 }]);
  });

  test.each([1, 2, 3, 4])('what is cut after %i says so; what just fits does not', async (limit) => {
    const value = await json('--effects', '--limit', String(limit));
    expect([value.effects.length, value.hasMore]).toEqual([limit, true]);
    expect((await asked('--effects', '--limit', String(limit))).stderr).toContain('and there are more');
    expect(await json('--effects', '--limit', '5')).toMatchObject({ hasMore: false });
    expect((await asked('--effects', '--limit', '5')).stderr).not.toContain('there are more');
  });

  test.each([[['--effects']], [['--saga', 'root']]])('is refused with %j alone', async (more) => {
    const { failure, calls } = await runCommand(['ledger', 'query', '--below', ...more], { answers });
    expect([failure?.name, calls]).toEqual(['InvalidInput', []]);
  });
});
