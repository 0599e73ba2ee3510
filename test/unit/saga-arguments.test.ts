/** Arguments made of inputs and results, and what an expression may cost. */
import { describe, expect, test } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { JsonObject } from '../../contract/json.ts';
import { resolveArguments } from '../../core/saga/plan/expressions.ts';
import type { Evaluate } from '../../core/saga/ports.ts';
import { errorOf } from '../support/error-of.ts';
import { lockFleet } from '../support/lock-fleet.ts';
import { evaluate, rules, step } from '../support/plan-tools.ts';
import { childrenOf } from '../support/processes.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

const children = () => childrenOf(process.pid);

describe('arguments', () => {
  test('are resolved deep, and keep what is no expression', async () => {
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

  test.each(['{% input.missing %}', "{% $error('no') %}", '{% ($f := function($n){$f($n+1)}; $f(0)) %}'])(
    '%s is an error, and ends',
    async (source) => {
      await expect(resolveArguments({ a: source }, { input: {}, steps: {} }, evaluate)).rejects.toMatchObject(
        {
          name: 'ArgumentsUnresolved',
        },
      );
    },
  );

  test.each([
    ['nothing to divide by', 'input.paid / input.parts', 'a number that is too large, or a division by zero'],
    ['it in a list', '[1, input.paid / input.parts]', 'a number that is too large, or a division by zero'],
    ['a number beyond all', 'input.paid * 1e308', 'a number that is too large, or a division by zero'],
    ['a function that is not called', '$sum', 'holds a function; call it'],
    ['one of its own', 'function($x){$x}', 'holds a function; call it'],
    ['one below', '{ "amount": $sum }', 'holds a function; call it'],
    ['a regular expression', '{ "amount": /a/ }', 'holds a function; call it'],
  ])('no JSON: %s is an error, and not another value', async (_, source, reason) => {
    const scope = { input: { paid: 100, parts: 0 }, steps: {} };
    await expect(resolveArguments({ a: `{% ${source} %}` }, scope, evaluate)).rejects.toMatchObject(
      errorOf('ArgumentsUnresolved', reason),
    );
  });

  const LETTERS = 'a'.repeat(36);
  const DOUBLED = '($f := function($s, $n){$n = 0 ? $s : $f($s & $s, $n - 1)}; $f(steps.a.result, 23))';
  const COSTLY = [
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
  ] as const;
  test.each(sampled(COSTLY, { every: 2, offset: printedSeed('saga-arguments') }))(
    '%s is an error, and the next expression is evaluated',
    async (_, source, reason) => {
      const scope = { input: {}, steps: { a: { result: LETTERS, externalRef: null } } };
      const costly = resolveArguments({ a: `{% ${source} %}` }, scope, evaluate);
      await expect(costly).rejects.toMatchObject(errorOf('ArgumentsUnresolved', reason));
      const next = { a: '{% $uppercase(steps.a.result) %}' };
      expect(await resolveArguments(next, scope, evaluate)).toEqual({ a: LETTERS.toUpperCase() });
    },
  );

  test.each([
    ['before it begins', '$uppercase(steps.a.result)', 'X', 0],
    ['in the midst of its work', '$count($map([1..80000], function($n){$n * 2}))', 80_000, 50],
  ])(
    'an expression that a busy machine lets wait for longer than its time, %s, is evaluated',
    async (_, source, value, atMs) => {
      const others = new Set(children());
      const own = createEvaluator();
      const scope = { input: {}, steps: { a: { result: 'x', externalRef: null } } };
      const resolved = (text: string) => resolveArguments({ a: `{% ${text} %}` }, scope, own);
      expect(await resolved('$lowercase(steps.a.result)')).toEqual({ a: 'x' });
      const [pid = 0, ...more] = children().filter((one) => !others.has(one));
      expect([pid > 1, more]).toEqual([true, []]);
      const stop = () => process.kill(pid, 'SIGSTOP');
      if (atMs === 0) stop();
      else setTimeout(stop, atMs);
      setTimeout(() => process.kill(pid, 'SIGCONT'), 1_500);
      expect(await resolved(source)).toEqual({ a: value });
    },
  );

  test('that are costly are refused with the plan, when the input is all they hang on', async () => {
    const plan = { steps: [step('a', 'pay', { amount: 1, note: '{% $pad(input, 400000000) %}' })] };
    expect(await rules(plan, 'x')).toEqual(['a: bad-expression']);
  });

  test('evaluate elsewhere only what may be costly', async () => {
    const sent: string[] = [];
    const recording: Evaluate = (expressions, scope) => {
      sent.push(...expressions.map(({ source }) => source));
      return evaluate(expressions, scope);
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

test('a resource key that finds nothing is told as the tool declares it, not as arguments of the step', async () => {
  const { store, start, settle, observed, requests } = await lockFleet();
  await store.putTool(
    scriptedTool('wrong', 'compensatable', { resourceKey: 'arguments.key', exclusive: true }),
  );
  const steps = [{ id: 's0', tool: 'wrong', arguments: { key: 'ada' } }];
  await start({ sagaId: 'one', plan: { steps }, input: {}, requestedBy: 'me' });
  await settle();
  expect(await observed('one')).toMatchObject({
    status: 'COMPENSATED',
    failed: {
      step: 's0',
      error: {
        name: 'ArgumentsUnresolved',
        message:
          'The resource key that wrong@1 declares cannot be made of the arguments of step s0: arguments.key has no value; let it read what is there',
      },
    },
  });
  expect(requests).toEqual([]);
});
