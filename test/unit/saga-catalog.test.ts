/** The catalog: tools and definitions that are refused, and functions that may outlive their wait. */
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { parseDefinition, parsePlan, parseTool } from '../../core/saga/plan/catalog.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import type { ToolFunctions } from '../../core/saga/ports.ts';
import { HTTP_TOOL_FUNCTION } from '../../core/saga/tools/http-endpoint.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { errorOf } from '../support/error-of.ts';
import { step, TOOLS, planTool as tool } from '../support/plan-tools.ts';
import { endingAfter } from '../support/tool-functions.ts';

const { compensation } = tool('pay', 'compensatable');

describe('catalog entries are refused, naming the entry and the rule', () => {
  test.each([
    [
      'mutating without a compensator',
      { ...tool('pay', 'compensatable'), compensation: undefined },
      'has no compensator',
    ],
    [
      'irreversible with a compensator',
      { ...tool('mail', 'irreversible'), compensation },
      'has a compensator',
    ],
    ['read with a compensator', { ...tool('look', 'read'), compensation }, 'has a compensator'],
    ['unknown member', { ...tool('pay', 'compensatable'), color: 'red' }, 'color'],
    [
      'not a schema',
      {
        ...tool('pay', 'compensatable'),
        schemas: { input: { type: 'nonsense' }, output: {}, compensation: {} },
      },
      'not a JSON Schema',
    ],
    ['no timeout', { ...tool('pay', 'compensatable'), timeoutSeconds: 0 }, 'timeoutSeconds'],
  ])('%s', (_, entry, words) => {
    expect(() => parseTool(entry)).toThrow(
      expect.objectContaining({ name: 'CatalogRefused', message: expect.stringContaining(words) }),
    );
  });

  test('definitions need a review date', () => {
    const definition = {
      name: 'd',
      version: '1',
      description: '',
      input: {},
      plan: { steps: [step('a', 'pay')] },
    };
    expect(() => parseDefinition(definition)).toThrow(expect.objectContaining({ name: 'CatalogRefused' }));
  });

  test('a stored version never changes, and a bad template is not stored', async () => {
    const { store } = memorySagaStore();
    const put = createPutCatalog({ store, functions: endingAfter(30) });
    const [, pay] = TOOLS;
    await put({ tools: [pay], definitions: [] });
    await expect(put({ tools: [pay], definitions: [] })).resolves.toMatchObject({
      versions: [{ stored: false }],
    });
    await expect(put({ tools: [{ ...pay, description: 'other' }], definitions: [] })).rejects.toMatchObject({
      name: 'CatalogRefused',
    });
    const definition = {
      name: 'd',
      version: '1',
      description: '',
      reviewBy: '2030-01-01',
      input: {},
      plan: { steps: [step('a', 'nothing')] },
    };
    await expect(put({ tools: [tool('look', 'read')], definitions: [definition] })).rejects.toMatchObject({
      name: 'PlanRefused',
    });
    expect(await store.getTool('look')).toBeUndefined();
  });

  describe('of a batch with an entry that is refused, nothing is stored', () => {
    const [look, pay, mail] = ['look', 'pay', 'mail'].map((name) => tool(name, 'read'));
    const template = (reviewBy: string) => ({
      name: 'd',
      version: '1',
      description: '',
      reviewBy,
      input: {},
      plan: { steps: [step('a', 'look')] },
    });
    const opened = async () => {
      const { store } = memorySagaStore();
      const put = createPutCatalog({ store, functions: endingAfter(14) });
      await put({ tools: [look], definitions: [template('2030-01-01')] });
      return { store, put };
    };
    const other = { ...look, description: 'other' };

    test.each([
      ['a tool', [pay, other, mail], [], 'tool look@1 is stored with other content; give it a new version.'],
      ['a template', [pay], [template('2031-01-01')], 'definition d@1 is stored with other content'],
      ['one of two twins', [pay, { ...pay, description: 'other' }], [], 'tool pay@1 is given twice'],
    ])('%s', async (_, tools, definitions, words) => {
      const { store, put } = await opened();
      await expect(put({ tools, definitions })).rejects.toMatchObject(errorOf('CatalogRefused', words));
      expect((await store.listTools()).map(({ name }) => name)).toEqual(['look']);
    });

    test('equal twins are one', async () => {
      const { put } = await opened();
      const { versions } = await put({ tools: [pay, pay, look], definitions: [] });
      expect(versions.map(({ stored }) => stored)).toEqual([true, false, false]);
    });

    test('what fails after it was checked says what was stored', async () => {
      const { store } = await opened();
      const putTool = async (entry: ToolManifest) => {
        // Somebody else is faster.
        if (entry.name === 'mail') await store.putTool({ ...entry, description: 'other' });
        return store.putTool(entry);
      };
      const put = createPutCatalog({ store: { ...store, putTool }, functions: endingAfter(14) });
      await expect(put({ tools: [look, pay, mail], definitions: [] })).rejects.toMatchObject({
        name: 'CatalogRefused',
        message: 'tool mail@1 is stored with other content; give it a new version. Stored before it: pay@1.',
      });
    });
  });

  describe('the function of a tool', () => {
    const look = tool('look', 'read');
    const pay = tool('pay', 'compensatable');
    const mail = tool('mail', 'irreversible');
    const put = (functions: ToolFunctions, ...tools: ToolManifest[]) => {
      const { store } = memorySagaStore();
      return { answer: createPutCatalog({ store, functions })({ tools, definitions: [] }), store };
    };

    test.each([
      ['ends before the state that waits for the longer call', 34, []],
      [
        'ends before the deadline',
        20,
        [
          `tool pay@1: its function fn ends after 20 s, before the deadline of its compensator undo_pay (30 s, the default: give it a timeoutSeconds of its own): a call that takes longer ends in doubt.`,
        ],
      ],
    ])('that %s is taken', async (_, seconds, warnings) => {
      await expect(put(endingAfter(seconds), pay).answer).resolves.toMatchObject({ warnings });
    });

    test.each([
      ['its call', 40, 20, 'its call (40 s)'],
      ['its call, the default', 30, 20, 'its call (30 s, the default: give it a timeoutSeconds of its own)'],
      ['its compensator', 10, 25, 'its compensator undo_pay (25 s)'],
    ])('the longest deadline is that of %s', async (_, forward, back, words) => {
      const { compensation } = pay;
      if (compensation === undefined) throw new Error('it has one');
      const one = {
        ...pay,
        timeoutSeconds: forward,
        compensation: { ...compensation, timeoutSeconds: back },
      };
      const { warnings } = await put(endingAfter(5), one).answer;
      expect(warnings).toEqual([expect.stringContaining(`before the deadline of ${words}: a call`)]);
      const missing = await put({ look: async () => ({ state: 'missing' }) }, one).answer;
      expect(missing.warnings).toEqual([expect.stringContaining(`the deadline of ${words} and 5 s`)]);
      await expect(put(endingAfter(100), one).answer).rejects.toThrow(`the deadline of ${words} and 5 s`);
    });

    test.each([
      [
        pay,
        35,
        'pay@1: function-timeout: its function fn may run 35 s, which must be less than 35 s',
        '30 to 34',
      ],
      [
        mail,
        16,
        'mail@1: function-timeout: its function fn may run 16 s, which must be less than 15 s',
        '10 to 14',
      ],
    ])(
      'that may outlive the wait for $name is refused with both numbers',
      async (one, seconds, words, fit) => {
        const { answer, store } = put(
          endingAfter(seconds),
          tool('other', 'read', { timeoutSeconds: 60 }),
          one,
        );
        await expect(answer).rejects.toMatchObject(errorOf('CatalogRefused', words));
        await expect(answer).rejects.toThrow(`Give the function a limit of ${fit} s: deployed, the timeout`);
        expect(await store.listTools()).toEqual([]);
      },
    );

    test('of a tool that only reads may run on: nothing it does late matters', async () => {
      await expect(put(endingAfter(900), look).answer).resolves.toMatchObject({ warnings: [] });
    });

    test.each([
      ['missing', 'is not there yet'],
      ['hidden', 'may not be looked at'],
    ] as const)('that is %s is stored with a warning', async (state, words) => {
      const { versions, warnings } = await put({ look: async () => ({ state }) }, look, pay).answer;
      expect(versions.map(({ stored }) => stored)).toEqual([true, true]);
      expect(warnings).toEqual([expect.stringContaining(words), expect.stringContaining(words)]);
    });

    test('behind an HTTP endpoint is not looked at: it ends each call at its own deadline', async () => {
      const nobody: ToolFunctions = {
        look: async () => {
          throw new Error('looked');
        },
      };
      const far = { ...look, functionName: HTTP_TOOL_FUNCTION, endpoint: 'https://far.example/' };
      await expect(put(nobody, far).answer).resolves.toMatchObject({ warnings: [] });
    });
  });

  test('plans of another shape say where', () => {
    expect(() => parsePlan({ steps: [{ id: 'A b', tool: 'pay', arguments: {} }] })).toThrow(
      expect.objectContaining({ name: 'PlanRefused', message: expect.stringContaining('step 0') }),
    );
  });
});
