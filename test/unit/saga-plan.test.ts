/** Plans: what is refused before anything is written, and what is pinned. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../core/saga/model/plan.ts';
import { requirePlan } from '../../core/saga/plan/plan-validation.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { evaluate, lookup, planTool, rules, step, TOOLS } from '../support/plan-tools.ts';
import { chosenSeed } from '../support/sampling.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

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
    [
      'a time of today',
      { steps: [step('a', 'pay', { amount: '{% $toMillis("10:00", "[H]:[m]") %}' })] },
      ['a: bad-expression'],
    ],
    [
      'a time of today whose picture is handed on',
      { steps: [step('a', 'pay', { amount: '{% "10:00" ~> $toMillis("[H]:[m]") %}' })] },
      ['a: bad-expression'],
    ],
    [
      'a time of today under another name',
      { steps: [step('a', 'pay', { amount: '{% ($f := $toMillis; $f("10:00", "[H]:[m]")) %}' })] },
      ['a: bad-expression'],
    ],
    ['chance', { steps: [step('a', 'pay', { amount: '{% $random() %}' })] }, ['a: bad-expression']],
  ];
  test.each(cases)('%s', async (_, plan, expected) => {
    expect(await rules(plan, {})).toEqual(expected);
    await expect(requirePlan(plan, lookup, { input: {}, evaluate })).rejects.toMatchObject({
      name: 'PlanRefused',
      message: expect.stringMatching(new RegExp(`^step ${(expected[0] ?? '').replace(': ', ': ')}: `)),
    });
  });

  test.each([
    '$toMillis("2026-01-01")',
    '"2026-01-01" ~> $toMillis',
    '"2026-01-01" ~> $toMillis()',
    '("2026-01-01").$toMillis()',
  ])('a whole time is the same each time: %s', async (source) => {
    expect(await rules({ steps: [step('a', 'pay', { amount: `{% ${source} %}` })] }, {})).toEqual([]);
  });

  test.each([
    [
      '{% $now( %}',
      'Not a JSONata expression: $now( (at character 5: Expected ")" before end of expression)',
    ],
    ['{% /ab %}', 'Not a JSONata expression: /ab (at character 3: No terminating / in regular expression)'],
  ])('says what is wrong with %s, and where', async (amount, message) => {
    const plan = { steps: [step('a', 'pay', { amount })] };
    await expect(requirePlan(plan, lookup, { input: {}, evaluate })).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
  });

  test('says where the version belongs', async () => {
    const refused = (one: Plan['steps'][number]) =>
      expect(requirePlan({ steps: [one] }, lookup, { input: {}, evaluate })).rejects;
    await refused(step('a', 'pay@1.0.0')).toMatchObject({
      message: expect.stringMatching(/no tool pay@1\.0\.0; .*"tool": "pay", "version": "1\.0\.0"$/),
    });
    await refused(step('a', 'pay', {}, { version: '9' })).toMatchObject({
      message: expect.stringMatching(/no tool pay@9$/),
    });
  });

  test('knows the input, and so the arguments made of it', async () => {
    const plan: Plan = { steps: [step('a', 'pay', { amount: '{% input.n %}' })] };
    expect(await rules(plan)).toEqual([]);
    expect(await rules(plan, { n: 3 })).toEqual([]);
    expect(await rules(plan, { n: 'three' })).toEqual(['a: arguments-schema']);
    expect(await rules(plan, {})).toEqual(['a: bad-expression']);
  });

  test('leaves what hangs on results for later, and checks the rest', async () => {
    const reference = '{% steps.a.result.x %}';
    expect(await rules({ steps: [step('a', 'look'), step('b', 'pay', { amount: reference })] }, {})).toEqual(
      [],
    );
    expect(
      await rules({ steps: [step('a', 'look'), step('b', 'pay', { amount: reference, note: 7 })] }, {}),
    ).toEqual(['b: arguments-schema']);
  });

  test('lets an irreversible step stand before others behind an approval', async () => {
    const plan: Plan = {
      steps: [step('m', 'mail', { amount: 1 }, { approval: { timeoutSeconds: 60 } }), step('p', 'pay')],
    };
    expect(await rules(plan, {})).toEqual([]);
  });

  test('for any order of tools: refused exactly when something compensatable follows something ungated and irreversible', async () => {
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
      { seed: SEED },
    );
  });
});

describe('start', () => {
  const engine = {
    start: async () => 'started' as const,
    look: async () => 'running' as const,
    wake: async () => true,
  };

  test('writes nothing for a bad plan, and pins what it starts', async () => {
    const memory = memorySagaStore();
    const start = createStartSaga({ store: memory.store, engine, clock: virtualClock(), evaluate });
    for (const one of TOOLS) await memory.store.putTool(one);
    const request = { sagaId: 's', input: {}, requestedBy: 'me' };
    await expect(start({ ...request, plan: { steps: [step('a', 'nothing')] } })).rejects.toMatchObject({
      name: 'PlanRefused',
    });
    await expect(start(request)).rejects.toMatchObject({ name: 'InvalidInput' });
    expect(memory.writes.transactions).toBe(0);
    await start({ ...request, plan: { steps: [step('a', 'pay')] } });
    await memory.store.putTool({ ...planTool('pay', 'compensatable'), version: '2' });
    const head = memory.heads.get('s');
    expect((await memory.store.getPinnedStep('s', head?.planHash ?? '', 0)).version).toBe('1');
  });
});
