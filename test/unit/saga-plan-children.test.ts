import { describe, expect, test } from 'vitest';
import type { Plan, PlanStep } from '../../core/saga/model/plan.ts';
import { parsePlan } from '../../core/saga/plan/catalog.ts';
import { checkPlan } from '../../core/saga/plan/plan-validation.ts';
import { lookup, rules, step } from '../support/plan-tools.ts';
import { definitionOf } from '../support/tree-saga.ts';

const pay = step('pay', 'pay');
const mail = step('mail', 'mail');
const child = (id: string, ...steps: PlanStep[]): PlanStep => ({ id, saga: { plan: { steps } } });
const branch = (id: string, ...steps: PlanStep[]) => ({ id, plan: { steps } });

const nested = (levels: number): Plan =>
  levels === 1 ? { steps: [pay] } : { steps: [{ id: 'down', saga: { plan: nested(levels - 1) } }] };

describe('plans with children are refused', () => {
  const cases: [string, Plan, string[]][] = [
    [
      'a template that is not there',
      { steps: [{ id: 'a', saga: { definition: 'none' } }] },
      ['a: unknown-definition'],
    ],
    ['a tool that a child does not find', { steps: [child('a', step('x', 'none'))] }, ['a/x: unknown-tool']],
    [
      'two branches of one id',
      { steps: [{ id: 'a', branches: [branch('b', pay), branch('b', pay)] }] },
      ['a: duplicate-branch'],
    ],
    [
      'more than 40 branches',
      { steps: [{ id: 'a', branches: Array.from({ length: 41 }, (_, at) => branch(`b${at}`, pay)) }] },
      ['a: too-many-children'],
    ],
    ['six levels', nested(6), ['down/down/down/down/down: too-deep']],
    [
      'a thousand and one steps in the whole tree',
      {
        steps: [
          {
            id: 'a',
            branches: Array.from({ length: 40 }, (_, at) =>
              branch(`b${at}`, ...Array.from({ length: 25 }, (__, n) => step(`s${n}`, 'look'))),
            ),
          },
        ],
      },
      ['a/b39/s0: too-many-steps'],
    ],
    [
      'something irreversible in a child, and a step after it that may have to be undone',
      { steps: [child('a', mail), pay] },
      ['a/mail: irreversible-before-compensatable'],
    ],
    [
      'the same between two children',
      { steps: [child('a', mail), child('b', pay)] },
      ['a/mail: irreversible-before-compensatable'],
    ],
    [
      'something irreversible beside what may fail, when one branch takes the others with it',
      { steps: [{ id: 'a', branches: [branch('b', mail), branch('c', pay)], onBranchFailure: 'all' }] },
      ['a/b/mail: irreversible-before-compensatable'],
    ],
    [
      'an input that does not match the schema of the template',
      { steps: [{ id: 'a', saga: { definition: 'typed' }, input: { name: 7 } }] },
      ['a: arguments-schema'],
    ],
    [
      'an input that names a later step',
      { steps: [{ ...child('a', pay), input: '{% steps.b.result %}' }, step('b', 'look')] },
      ['a: later-reference'],
    ],
    [
      'an output that names no step',
      { steps: [pay], output: '{% steps.none.result %}' },
      ['output: unknown-reference'],
    ],
    [
      'a list of 41',
      { steps: [{ id: 'a', each: '{% [1..41] %}', plan: { steps: [pay] } }] },
      ['a: too-many-children'],
    ],
    [
      'a list that is no expression',
      { steps: [{ id: 'a', each: 'orders', plan: { steps: [pay] } }] },
      ['a: bad-expression'],
    ],
    [
      'a template that runs itself',
      { steps: [{ id: 'a', saga: { definition: 'loop' } }] },
      ['a/again: recursion'],
    ],
  ];
  const definitions = [
    definitionOf('typed', { steps: [pay] }, { type: 'object', properties: { name: { type: 'string' } } }),
    definitionOf('loop', { steps: [{ id: 'again', saga: { definition: 'loop' } }] }),
  ];
  test.each(cases)('%s', async (_, plan, expected) => {
    expect(await rules(plan, {}, definitions)).toEqual(expected);
  });

  test('five levels, forty children and a thousand steps are not', async () => {
    expect(await rules(nested(5), {})).toEqual([]);
    const branches = Array.from({ length: 37 }, (_, at) =>
      branch(`b${at}`, ...Array.from({ length: 27 }, (__, n) => step(`s${n}`, 'look'))),
    );
    expect(await rules({ steps: [{ id: 'a', branches }] }, {})).toEqual([]);
  });

  test('a gate lets something irreversible come first', async () => {
    const gated: PlanStep = { ...child('a', mail), approval: { timeoutSeconds: 60 } };
    expect(await rules({ steps: [gated, pay] }, {})).toEqual([]);
  });

  test('forty templates of forty are refused without looking at all of them', async () => {
    const wide = (name: string, below: string) =>
      definitionOf(name, {
        steps: [
          { id: 'a', branches: Array.from({ length: 40 }, (_, at) => ({ id: `b${at}`, definition: below })) },
        ],
      });
    const leaf = definitionOf('leaf', { steps: [pay] });
    const tree = [wide('one', 'two'), wide('two', 'three'), wide('three', 'leaf'), leaf];
    expect(await rules({ steps: [{ id: 'a', saga: { definition: 'one' } }] }, {}, tree)).toContainEqual(
      expect.stringContaining('too-many-steps'),
    );
  });

  test.each([
    ['no kind of step', { id: 'a' }],
    ['two kinds of step', { id: 'a', tool: 'pay', arguments: {}, saga: { plan: { steps: [pay] } } }],
    ['an unknown kind of step', { id: 'a', loop: [] }],
    ['a child with template and plan', { id: 'a', saga: { definition: 'x', plan: { steps: [pay] } } }],
    ['a child with neither', { id: 'a', saga: {} }],
    ['no branches', { id: 'a', branches: [] }],
    ['an unknown policy', { id: 'a', branches: [branch('b', pay)], onBranchFailure: 'some' }],
    ['an unknown member', { id: 'a', each: '{% input %}', plan: { steps: [pay] }, detached: true }],
  ])('%s', (_, one) => {
    expect(() => parsePlan({ steps: [one] })).toThrow(expect.objectContaining({ name: 'PlanRefused' }));
  });
});

test('a child is pinned with its parent: another plan of the child is another plan of the parent', async () => {
  const pin = async (amount: number) =>
    (await checkPlan({ steps: [child('a', step('pay', 'pay', { amount }))] }, lookup, undefined)).steps;
  expect(await pin(1)).toEqual(await pin(1));
  expect(await pin(1)).not.toEqual(await pin(2));
});
