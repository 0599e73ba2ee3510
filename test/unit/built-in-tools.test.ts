/** The tools that come with Walkback: in every catalog from the first start, as `put-catalog` would take them. */
import { expect, test } from 'vitest';
import { withBuiltIn } from '../../core/saga/plan/built-in.ts';
import { parseDefinition, parseTool } from '../../core/saga/plan/catalog.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import { createListCatalog } from '../../core/saga/view/list-sagas.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import catalog from '../../tools/catalog.json' with { type: 'json' };

const tools = catalog.tools.map(parseTool);
const definitions = catalog.definitions.map(parseDefinition);
const open = () => withBuiltIn(memorySagaStore().store, { tools, definitions });
const clock = { now: () => new Date('2026-12-01T00:00:00Z'), sleep: async () => undefined };

test('each is a tool of the catalog, and what changes something can be taken back or says that it cannot', () => {
  expect(tools.map(({ name, effect, exclusive }) => [name, effect, exclusive ?? false])).toEqual([
    ['preflight', 'read', false],
    ['open_workspace', 'compensatable', false],
    ['checkpoint_workspace', 'read', false],
    ['begin_work', 'compensatable', false],
    ['run_in_workspace', 'compensatable', false],
    ['verify_commitments', 'read', false],
    ['prepare_changeset', 'read', true],
    ['apply_changeset', 'compensatable', true],
    ['dismiss_workspace', 'partial', false],
  ]);
});

test('they are found and listed without being stored', async () => {
  const store = open();
  expect((await store.getTool('open_workspace'))?.version).toBe('1.0.0');
  expect(await store.getTool('open_workspace', '9.9.9')).toBeUndefined();
  const listed = await createListCatalog({ store, clock })();
  expect(listed.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(tools.map(({ name }) => name)));
});

test('another version of somebody comes first, and the same version cannot be another one', async () => {
  const store = open();
  const put = createPutCatalog({ store, functions: { look: async () => ({ state: 'missing' }) } });
  const [first] = tools;
  if (first === undefined) throw new Error('there are no built-in tools');
  const mine = { ...first, version: '7.0.0', description: 'mine' };
  await put({ tools: [mine], definitions: [] });
  expect((await store.getTool(first.name))?.description).toBe('mine');
  expect((await store.getTool(first.name, first.version))?.description).toBe(first.description);
  expect((await store.listTools()).filter(({ name }) => name === first.name)).toEqual([mine]);
  await expect(put({ tools: [{ ...first, description: 'mine' }], definitions: [] })).rejects.toThrow(
    /is stored with other content/,
  );
  expect((await put({ tools: [first], definitions: [] })).versions).toMatchObject([{ stored: false }]);
});

test('templates are checked as put-catalog checks them, and say when they are to be looked at again', async () => {
  const put = createPutCatalog({
    store: memorySagaStore().store,
    functions: { look: async () => ({ state: 'missing' }) },
  });
  const { versions } = await put({ tools: catalog.tools, definitions: catalog.definitions });
  expect(versions.filter(({ kind }) => kind === 'definition').map(({ name }) => name)).toEqual(
    definitions.map(({ name }) => name),
  );
  const listed = await createListCatalog({ store: open(), clock })();
  for (const { name } of definitions) {
    const found = listed.definitions.find((one) => one.name === name);
    expect(found?.daysToReview, name).toBeGreaterThan(0);
    expect((await open().getDefinition(name))?.plan, name).toBeDefined();
  }
});
