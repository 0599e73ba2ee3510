/** Review dates of tools and templates: which are taken, where a past one is told, and that a saga pins nothing of them. */
import { describe, expect, test } from 'vitest';
import { manifest as storedManifest } from '../../adapters/aws/sagas/stored-sagas.ts';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createListCatalog } from '../../core/saga/view/list-sagas.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import catalog from '../../tools/catalog.json' with { type: 'json' };
import { evaluate, planTool, step } from '../support/plan-tools.ts';

const engine = {
  start: async () => 'started' as const,
  look: async () => 'running' as const,
  wake: async () => true,
};
const PAST = '2020-01-31';

test.each([...catalog.tools, ...catalog.definitions])('$name comes with a day that there is', (entry) => {
  const { reviewBy } = entry;
  expect(new Date(`${reviewBy}T00:00:00Z`).toISOString().slice(0, 10)).toBe(reviewBy);
  expect(reviewBy > '2026-11-01').toBe(true);
});

describe('of a tool', () => {
  test.each(['2027-02-30', '2027-13-01', 'soon', '', '31.05.2027', 20_270_531])(
    '%j is refused',
    (reviewBy) => {
      expect(() => parseTool({ ...planTool('look', 'read'), reviewBy })).toThrow(
        expect.objectContaining({
          name: 'CatalogRefused',
          message: 'tool look at reviewBy: must be a day, as "2027-05-31"',
        }),
      );
    },
  );

  test('may be left out', () => {
    const before = planTool('look', 'read');
    expect('reviewBy' in before).toBe(false);
    expect(parseTool(before)).toEqual(before);
    expect(storedManifest.parse(before)).toEqual(before);
    expect(storedManifest.parse({ ...before, reviewBy: PAST })).toEqual({ ...before, reviewBy: PAST });
  });

  test('the list has it with the days that are left; without a date it says nothing', async () => {
    const { store } = memorySagaStore();
    await store.putTool(planTool('old', 'read', { reviewBy: '2026-01-31' }));
    await store.putTool(planTool('plain', 'read'));
    const on = async (day: string) => {
      const clock = { now: () => new Date(day), sleep: async () => undefined };
      const { tools } = await createListCatalog({ store, clock })();
      expect(tools.find(({ name }) => name === 'plain')).not.toHaveProperty('daysToReview');
      return tools.find(({ name }) => name === 'old')?.daysToReview;
    };
    expect(await on('2026-01-29T12:00:00Z')).toBe(2);
    expect(await on('2026-01-31T23:00:00Z')).toBe(0);
    expect(await on('2026-02-01T00:00:00Z')).toBe(-1);
  });
});

describe('a start', () => {
  const open = async (reviewBy?: string) => {
    const { store } = memorySagaStore();
    const dated = reviewBy === undefined ? {} : { reviewBy };
    await store.putTool(planTool('look', 'read', dated));
    const start = createStartSaga({ store, engine, clock: virtualClock(), evaluate });
    return { store, start };
  };
  const plan = { steps: [step('a', 'look'), step('b', 'look')] };

  test('pins the same of a tool with and without a date', async () => {
    const hashes = [];
    for (const reviewBy of [undefined, PAST, '2099-01-01']) {
      const { store, start } = await open(reviewBy);
      await start({ sagaId: 's', plan, input: {}, requestedBy: 'me' });
      hashes.push((await store.getHead('s'))?.planHash);
    }
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(hashes).size).toBe(1);
  });

  test('says once of each tool and template that its date is past, of those of children too', async () => {
    const { store, start } = await open(PAST);
    const definition = { version: '1', description: '', reviewBy: PAST, input: {} };
    await store.putDefinition({ ...definition, name: 'inner', plan });
    const within = { steps: [{ id: 'c', saga: { definition: 'inner', input: {} } }] };
    await store.putDefinition({ ...definition, name: 'outer', plan: within });
    const request = { sagaId: 's', definition: { name: 'outer' }, input: {}, requestedBy: 'me' };
    expect((await start(request)).warnings).toEqual([
      `Template outer@1 is past its review date ${PAST}.`,
      `Template inner@1 is past its review date ${PAST}.`,
      `Tool look@1 is past its review date ${PAST}.`,
    ]);
    const fresh = await open('2099-01-01');
    expect((await fresh.start({ sagaId: 's', plan, input: {}, requestedBy: 'me' })).warnings).toEqual([]);
  });

  test('with very many of them names some and counts the rest', async () => {
    const { store, start } = await open();
    const names = Array.from({ length: 25 }, (_, n) => `old${n}`);
    for (const name of names) await store.putTool(planTool(name, 'read', { reviewBy: PAST }));
    const many = { steps: names.map((name) => step(name, name)) };
    const { warnings } = await start({ sagaId: 's', plan: many, input: {}, requestedBy: 'me' });
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toBe('15 more are past their review date: walkback catalog review lists them.');
  });
});
