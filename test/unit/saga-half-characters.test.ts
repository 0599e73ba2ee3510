/** Expressions can cut a character in half, and neither a hash nor a table can keep that. */
import { expect, test } from 'vitest';
import { evaluateExpression } from '../../core/saga/plan/expressions.ts';
import { isWellFormed } from '../../core/shared/well-formed.ts';
import { evaluate } from '../support/plan-tools.ts';

const scope = { text: 'a😀', name: '😀' };

test.each([
  ['$split(name, "")[0]', '\uFFFD'],
  ['$split(text, "")', ['a', '\uFFFD', '\uFFFD']],
  ['{ "of": [{ $split(name, "")[1]: $split(name, "")[0] }] }', { of: [{ '\uFFFD': '\uFFFD' }] }],
  ['$split(name, "")[0] & $split(name, "")[1]', '😀'],
  ['$join($split(name, ""))', '😀'],
  ['"\\\\ud83d"', '\\ud83d'],
  ['text', 'a😀'],
])('%s has a value of whole characters', async (source, value) => {
  expect(await evaluateExpression(source, scope, evaluate)).toEqual(value);
});

test.each(['$error($split(name, "")[0])', '$number($split(name, "")[0])', '$sum($split(name, ""))'])(
  'why %s fails is told in whole characters',
  async (source) => {
    const failure: unknown = await evaluateExpression(source, scope, evaluate).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'ArgumentsUnresolved' });
    expect(failure instanceof Error && isWellFormed(failure.message)).toBe(true);
  },
);
