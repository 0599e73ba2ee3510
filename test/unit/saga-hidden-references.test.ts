/** An expression sees the input and the steps that it names, however it looks for others (S8). */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readExpression, resolveArguments } from '../../core/saga/plan/expressions.ts';
import { evaluate, rules, step } from '../support/plan-tools.ts';
import { chosenSeed } from '../support/sampling.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

const SECRET = 'the-result-nobody-named';
const scope = {
  input: { list: [1, 2], text: 'in' },
  steps: {
    named: { result: { x: 'seen' }, externalRef: null },
    other: { result: { x: SECRET }, externalRef: SECRET },
  },
};

/** Ways to come by everything that is there, without a word of which step. */
const WAYS = [
  '$string($$)',
  '$string($)',
  '$keys($$)[0]',
  '$string($lookup($$, "ste" & "ps"))',
  '$string($lookup($$, $keys($$)[1]))',
  '$string($each($$, function($v, $k) { $v }))',
  '$string($spread($$))',
  '$string($$.*)',
  '$string($$.**)',
  '$string(*)',
  '$string(**)',
  '$string(**.x)',
  '$string(**.result)',
  '$string($merge([$$]))',
  '$string($sift($$, function($v) { true }))',
  '$string($map([$$], function($v) { $v.*.*.result }))',
  '$map([$$], $string)',
  '$string($filter([$$], function($v) { true }))',
  '$reduce([$$, $$], function($a, $b) { $string($b) })',
  '($all := $$; $string($all))',
  '($all := $$; $string($all.steps.other.result))',
  '($all := $$; $string($all.steps))',
  '($find := $lookup(?, "steps"); $string($find($$)))',
  '$$ ~> $string',
  '$$ ~> |$|{"more": 1}| ~> $string',
  '(function($v) { $string($v) })($$)',
  '$string({"a": $$})',
  '$string([$$])',
  'input.list.($string($$))',
  'input.list@$l.($string($$))',
  '$string(input.%)',
  '$string(input.text.%.%)',
  '$string($$[0])',
  '$string($$ { "k": $ })',
  '$string($sort([$$, $$], function($a, $b) { false }))',
  '$string($zip([$$], [1]))',
  '$string($distinct([$$, 1]))',
  '$string($type($$) = "object" ? $$ : 0)',
];

const valueOf = async (source: string): Promise<string> => {
  try {
    return JSON.stringify(await resolveArguments({ a: `{% ${source} %}` }, scope, evaluate));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('a hidden reference', () => {
  test.each(WAYS)('%s', async (source) => {
    expect(await valueOf(source)).not.toContain(SECRET);
    // Beside one that is named, too.
    expect(await valueOf(`$string(steps.named.result.x) & $string([${source}])`)).not.toContain(SECRET);
  });

  test('finds nothing, however such ways are put together', async () => {
    const wrap = fc.constantFrom(
      (inner: string) => `$string(${inner})`,
      (inner: string) => `[${inner}]`,
      (inner: string) => `{"k": ${inner}}`,
      (inner: string) => `(${inner}; $$)`,
      (inner: string) => `($v := ${inner}; $v)`,
      (inner: string) => `$map([${inner}], function($i) { $i })`,
      (inner: string) => `input.list.(${inner})`,
      (inner: string) => `$append(${inner}, $$.*)`,
      (inner: string) => `$exists($$) ? ${inner} : 0`,
    );
    let looked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...WAYS),
        fc.array(wrap, { minLength: 1, maxLength: 4 }),
        async (way, wraps) => {
          const source = wraps.reduce((inner, around) => around(inner), way);
          if (readExpression(source).steps.includes('other')) return;
          looked += 1;
          expect(await valueOf(source)).not.toContain(SECRET);
        },
      ),
      { seed: SEED, numRuns: 150 },
    );
    expect(looked).toBeGreaterThan(100);
  });

  test('in one argument sees nothing that another argument of the step names', async () => {
    const resolved = await resolveArguments(
      { open: '{% steps.other.result.x %}', hidden: '{% $string($$) %}' },
      scope,
      evaluate,
    );
    expect(resolved['open']).toBe(SECRET);
    expect(resolved['hidden']).toBe(JSON.stringify({ input: scope.input }));
  });

  test('does the same when the plan is checked as when the step starts', async () => {
    const plan = {
      steps: [
        step('a', 'look'),
        step('b', 'pay', { amount: 1, note: '{% $lookup($$, "steps").a.result %}' }),
      ],
    };
    expect(await rules(plan, {})).toEqual(['b: bad-expression']);
  });

  test('that names a member __proto__ is refused with the plan', async () => {
    for (const source of ['{"__proto__": 1}', 'input.`__proto__`', '$lookup(input, "__proto__")']) {
      const plan = { steps: [step('a', 'pay', { amount: 1, note: `{% $string(${source}) %}` })] };
      expect(await rules(plan, {}), source).toEqual(['a: bad-expression']);
    }
  });
});
