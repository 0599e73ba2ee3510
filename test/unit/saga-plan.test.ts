import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import { parseDefinition, parsePlan, parseTool } from '../../core/saga/catalog.ts';
import { resolveArguments } from '../../core/saga/expressions.ts';
import { HTTP_TOOL_FUNCTION } from '../../core/saga/http-endpoint.ts';
import type { EffectKind, Json, JsonObject, Plan, ToolManifest } from '../../core/saga/model.ts';
import { checkPlan, requirePlan } from '../../core/saga/plan-validation.ts';
import type { Evaluate, ToolFunctions } from '../../core/saga/ports.ts';
import { makePutCatalog } from '../../core/saga/put-catalog.ts';
import { makeStartSaga } from '../../core/saga/start.ts';
import { memorySagaStore } from '../support/memory-saga-store.ts';
import { endingAfter } from '../support/tool-functions.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const evaluate = createEvaluator();

const RETRY = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };

const tool = (name: string, effect: EffectKind, more: Partial<ToolManifest> = {}): ToolManifest => ({
  name,
  version: '1',
  description: '',
  effect,
  functionName: 'fn',
  timeoutSeconds: 10,
  retry: RETRY,
  idempotencyWindowSeconds: 0,
  replaysErrors: false,
  probe: false,
  ...(effect === 'compensatable' || effect === 'partial'
    ? { compensation: { name: 'undo', timeoutSeconds: 30, retry: RETRY } }
    : {}),
  schemas: {
    input: {
      type: 'object',
      properties: { amount: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
      required: ['amount'],
      additionalProperties: false,
    },
    output: {},
    compensation: {},
  },
  ...more,
});

const TOOLS = [
  tool('look', 'read'),
  tool('pay', 'compensatable'),
  tool('halve', 'partial'),
  tool('mail', 'irreversible'),
];
const lookup = (name: string, version?: string) =>
  TOOLS.find((one) => one.name === name && (version === undefined || one.version === version));

const step = (id: string, name: string, args: JsonObject = { amount: 1 }, more = {}) => ({
  id,
  tool: name,
  arguments: args,
  ...more,
});
const rules = async (plan: Plan, input?: Json) =>
  (await checkPlan(plan, lookup, input === undefined ? undefined : { input, evaluate })).violations.map(
    (one) => `${one.step}: ${one.rule}`,
  );

describe('bad plans are refused, naming step and rule (S8)', () => {
  const cases: [string, Plan, string[]][] = [
    ['an unknown tool', { steps: [step('a', 'nothing')] }, ['a: unknown-tool']],
    [
      'an unknown version',
      { steps: [step('a', 'pay', { amount: 1 }, { version: '9' })] },
      ['a: unknown-tool'],
    ],
    ['two steps of one name', { steps: [step('a', 'pay'), step('a', 'pay')] }, ['a: duplicate-step']],
    [
      'an irreversible step before a compensatable one',
      { steps: [step('m', 'mail'), step('p', 'pay')] },
      ['m: irreversible-before-compensatable'],
    ],
    [
      'an irreversible step before a partial one',
      { steps: [step('m', 'mail'), step('p', 'halve')] },
      ['m: irreversible-before-compensatable'],
    ],
    ['arguments that do not match', { steps: [step('a', 'pay', { amount: 0 })] }, ['a: arguments-schema']],
    ['an argument that is missing', { steps: [step('a', 'pay', {})] }, ['a: arguments-schema']],
    [
      'an argument nobody knows',
      { steps: [step('a', 'pay', { amount: 1, extra: 1 })] },
      ['a: arguments-schema'],
    ],
    [
      'a reference to a later step',
      { steps: [step('a', 'pay', { amount: '{% steps.b.result.x %}' }), step('b', 'look')] },
      ['a: later-reference'],
    ],
    [
      'a reference to itself',
      { steps: [step('a', 'pay', { amount: '{% steps.a.result.x %}' })] },
      ['a: later-reference'],
    ],
    [
      'a reference to no step',
      { steps: [step('a', 'pay', { amount: '{% $$.steps.z.result %}' })] },
      ['a: unknown-reference'],
    ],
    [
      'a reference hidden in a function',
      { steps: [step('a', 'pay', { amount: '{% $sum(input.l.(steps.b.result.x)) %}' }), step('b', 'look')] },
      ['a: later-reference'],
    ],
    [
      'all steps at once',
      { steps: [step('a', 'pay', { amount: '{% $count(steps.*) %}' })] },
      ['a: unknown-reference'],
    ],
    [
      'something that is not JSONata',
      { steps: [step('a', 'pay', { amount: '{% 1 + %}' })] },
      ['a: bad-expression'],
    ],
    ['the time', { steps: [step('a', 'pay', { amount: '{% $millis() %}' })] }, ['a: bad-expression']],
    [
      'an order by chance',
      { steps: [step('a', 'pay', { amount: '{% $shuffle([1, 2])[0] %}' })] },
      ['a: bad-expression'],
    ],
    ['chance', { steps: [step('a', 'pay', { amount: '{% $random() %}' })] }, ['a: bad-expression']],
  ];
  it.each(cases)('%s', async (_, plan, expected) => {
    expect(await rules(plan, {})).toEqual(expected);
    await expect(requirePlan(plan, lookup, { input: {}, evaluate })).rejects.toMatchObject({
      name: 'PlanRefused',
      message: expect.stringMatching(new RegExp(`^step ${(expected[0] ?? '').replace(': ', ': ')}: `)),
    });
  });

  it('knows the input, and so the arguments made of it', async () => {
    const plan: Plan = { steps: [step('a', 'pay', { amount: '{% input.n %}' })] };
    expect(await rules(plan)).toEqual([]);
    expect(await rules(plan, { n: 3 })).toEqual([]);
    expect(await rules(plan, { n: 'three' })).toEqual(['a: arguments-schema']);
    expect(await rules(plan, {})).toEqual(['a: bad-expression']);
  });

  it('leaves what hangs on results for later, and checks the rest', async () => {
    const reference = '{% steps.a.result.x %}';
    expect(await rules({ steps: [step('a', 'look'), step('b', 'pay', { amount: reference })] }, {})).toEqual(
      [],
    );
    expect(
      await rules({ steps: [step('a', 'look'), step('b', 'pay', { amount: reference, note: 7 })] }, {}),
    ).toEqual(['b: arguments-schema']);
  });

  it('lets an irreversible step stand before others behind an approval', async () => {
    const plan: Plan = {
      steps: [step('m', 'mail', { amount: 1 }, { approval: { timeoutSeconds: 60 } }), step('p', 'pay')],
    };
    expect(await rules(plan, {})).toEqual([]);
  });

  it('for any order of tools: refused exactly when something compensatable follows something ungated and irreversible', async () => {
    const names = fc.array(
      fc.record({ name: fc.constantFrom('look', 'pay', 'halve', 'mail'), gated: fc.boolean() }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(names, async (list) => {
        const plan: Plan = {
          steps: list.map(({ name, gated }, index) =>
            step(`s${index}`, name, { amount: 1 }, gated ? { approval: { timeoutSeconds: 1 } } : {}),
          ),
        };
        const open = list.findIndex(({ name, gated }) => name === 'mail' && !gated);
        const bad =
          open !== -1 && list.some(({ name }, index) => index > open && (name === 'pay' || name === 'halve'));
        expect((await rules(plan, {})).length > 0).toBe(bad);
      }),
    );
  });
});

describe('catalog entries are refused, naming the entry and the rule', () => {
  it.each([
    [
      'mutating without a compensator',
      { ...tool('pay', 'compensatable'), compensation: undefined },
      'has no compensator',
    ],
    [
      'irreversible with a compensator',
      { ...tool('mail', 'irreversible'), compensation: { name: 'undo', timeoutSeconds: 1, retry: RETRY } },
      'has a compensator',
    ],
    [
      'read with a compensator',
      { ...tool('look', 'read'), compensation: { name: 'undo', timeoutSeconds: 1, retry: RETRY } },
      'has a compensator',
    ],
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

  it('definitions need a review date', () => {
    const definition = {
      name: 'd',
      version: '1',
      description: '',
      input: {},
      plan: { steps: [step('a', 'pay')] },
    };
    expect(() => parseDefinition(definition)).toThrow(expect.objectContaining({ name: 'CatalogRefused' }));
  });

  it('a stored version never changes, and a bad template is not stored', async () => {
    const { store } = memorySagaStore();
    const put = makePutCatalog({ store, functions: endingAfter(30) });
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

  describe('the function of a tool', () => {
    const look = tool('look', 'read');
    const pay = tool('pay', 'compensatable');
    const mail = tool('mail', 'irreversible');
    const put = (functions: ToolFunctions, ...tools: ToolManifest[]) => {
      const { store } = memorySagaStore();
      return { answer: makePutCatalog({ store, functions })({ tools, definitions: [] }), store };
    };

    it.each([
      ['ends before the state that waits for the longer call', 34, []],
      ['ends before the deadline', 20, [expect.stringContaining('before the deadline of 30 s')]],
    ])('that %s is taken', async (_, seconds, warnings) => {
      await expect(put(endingAfter(seconds), pay).answer).resolves.toMatchObject({ warnings });
    });

    it.each([
      [pay, 35, 'pay@1: function-timeout: its function fn may run 35 s, which must be less than 35 s'],
      [mail, 16, 'mail@1: function-timeout: its function fn may run 16 s, which must be less than 15 s'],
    ])('that may outlive the wait for $name is refused with both numbers', async (one, seconds, words) => {
      const { answer, store } = put(endingAfter(seconds), tool('other', 'read', { timeoutSeconds: 60 }), one);
      await expect(answer).rejects.toMatchObject({
        name: 'CatalogRefused',
        message: expect.stringContaining(words),
      });
      expect(await store.listTools()).toEqual([]);
    });

    it('of a tool that only reads may run on: nothing it does late matters', async () => {
      await expect(put(endingAfter(900), look).answer).resolves.toMatchObject({ warnings: [] });
    });

    it.each([
      ['missing', 'is not there yet'],
      ['hidden', 'may not be looked at'],
    ] as const)('that is %s is stored with a warning', async (state, words) => {
      const { versions, warnings } = await put({ look: async () => ({ state }) }, look, pay).answer;
      expect(versions.map(({ stored }) => stored)).toEqual([true, true]);
      expect(warnings).toEqual([expect.stringContaining(words), expect.stringContaining(words)]);
    });

    it('behind an HTTP endpoint is not looked at: it ends each call at its own deadline', async () => {
      const nobody: ToolFunctions = {
        look: async () => {
          throw new Error('looked');
        },
      };
      const far = { ...look, functionName: HTTP_TOOL_FUNCTION, endpoint: 'https://far.example/' };
      await expect(put(nobody, far).answer).resolves.toMatchObject({ warnings: [] });
    });
  });

  it('plans of another shape say where', () => {
    expect(() => parsePlan({ steps: [{ id: 'A b', tool: 'pay', arguments: {} }] })).toThrow(
      expect.objectContaining({ name: 'PlanRefused', message: expect.stringContaining('step 0') }),
    );
  });
});

describe('start', () => {
  const engine = {
    start: async () => 'started' as const,
    look: async () => 'running' as const,
    wake: async () => true,
  };

  it('writes nothing for a bad plan, and pins what it starts', async () => {
    const memory = memorySagaStore();
    const start = makeStartSaga({ store: memory.store, engine, clock: virtualClock(), evaluate });
    for (const one of TOOLS) await memory.store.putTool(one);
    const request = { sagaId: 's', input: {}, requestedBy: 'me' };
    await expect(start({ ...request, plan: { steps: [step('a', 'nothing')] } })).rejects.toMatchObject({
      name: 'PlanRefused',
    });
    await expect(start(request)).rejects.toMatchObject({ name: 'InvalidInput' });
    expect(memory.writes.transactions).toBe(0);
    await start({ ...request, plan: { steps: [step('a', 'pay')] } });
    await memory.store.putTool({ ...tool('pay', 'compensatable'), version: '2' });
    const head = memory.heads.get('s');
    expect((await memory.store.getPinnedStep('s', head?.planHash ?? '', 0)).version).toBe('1');
  });
});

describe('arguments', () => {
  it('are resolved deep, and keep what is no expression', async () => {
    const scope = { input: { n: 2, list: [1, 2] }, steps: { a: { result: { x: 5 }, externalRef: 're' } } };
    const template: JsonObject = {
      sum: '{% input.n + steps.a.result.x %}',
      ref: '{% steps.a.externalRef %}',
      deep: [{ doubled: '{% input.list.($ * 2) %}' }],
      text: 'costs {% 5 %}',
      nothing: null,
    };
    expect(await resolveArguments(template, scope, evaluate)).toEqual({
      sum: 7,
      ref: 're',
      deep: [{ doubled: [2, 4] }],
      text: 'costs {% 5 %}',
      nothing: null,
    });
  });

  it.each(['{% input.missing %}', "{% $error('no') %}", '{% ($f := function($n){$f($n+1)}; $f(0)) %}'])(
    '%s is an error, and ends',
    async (source) => {
      await expect(resolveArguments({ a: source }, { input: {}, steps: {} }, evaluate)).rejects.toMatchObject(
        {
          name: 'ArgumentsUnresolved',
        },
      );
    },
  );

  const LETTERS = 'a'.repeat(36);
  const DOUBLED = '($f := function($s, $n){$n = 0 ? $s : $f($s & $s, $n - 1)}; $f(steps.a.result, 23))';
  it.each([
    [
      'a regular expression that runs for hours',
      '$match(steps.a.result & "!", /^(a+)+$/)',
      'longer than 1000 ms or more than 64 MB',
    ],
    [
      'more text than there is memory',
      '$pad(steps.a.result, 400000000)',
      'longer than 1000 ms or more than 64 MB',
    ],
    ['text that doubles', DOUBLED, 'longer than 1000 ms or more than 64 MB'],
    ['a value that is far too large', '$pad(steps.a.result, 2000000)', 'makes too much'],
  ])('%s is an error, and the next expression is evaluated', async (_, source, reason) => {
    const scope = { input: {}, steps: { a: { result: LETTERS, externalRef: null } } };
    const costly = resolveArguments({ a: `{% ${source} %}` }, scope, evaluate);
    await expect(costly).rejects.toMatchObject({
      name: 'ArgumentsUnresolved',
      message: expect.stringContaining(reason),
    });
    const next = { a: '{% $uppercase(steps.a.result) %}' };
    expect(await resolveArguments(next, scope, evaluate)).toEqual({ a: LETTERS.toUpperCase() });
  });

  it('that are costly are refused with the plan, when the input is all they hang on', async () => {
    const plan = { steps: [step('a', 'pay', { amount: 1, note: '{% $pad(input, 400000000) %}' })] };
    expect(await rules(plan, 'x')).toEqual(['a: bad-expression']);
  });

  it('evaluate elsewhere only what may be costly', async () => {
    const sent: string[] = [];
    const recording: Evaluate = (sources, scope) => {
      sent.push(...sources);
      return evaluate(sources, scope);
    };
    const template = {
      path: '{% steps.a.result.x %}',
      text: "{% 'for ' & input.name & ': ' & (input.n > 0 ? -(input.n + 1) : 0) %}",
      filter: '{% input.list[n > 1].n %}',
      call: '{% $string(input.n) %}',
    };
    const input = { name: 'Ada', n: 1, list: [{ n: 1 }, { n: 2 }] };
    const scope = { input, steps: { a: { result: { x: 5 }, externalRef: null } } };
    expect(await resolveArguments(template, scope, recording)).toEqual({
      path: 5,
      text: 'for Ada: -2',
      filter: 2,
      call: '1',
    });
    expect(sent).toEqual(['input.list[n > 1].n', '$string(input.n)']);
  });
});
