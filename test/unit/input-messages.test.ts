/** What a caller is told of a field that is wrong says what is expected there. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { FUNCTION_ROWS } from '../../contract/functions.ts';
import { parseInput } from '../../core/shared/parse-input.ts';

const WRONG = [1.5, -1, true, null, '', 'two words', [], [{}], {}, { unknown: 1 }, { steps: 'all' }];

const cases = FUNCTION_ROWS.flatMap(({ name, input }) => {
  if (input === undefined) return [];
  const schema = input();
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties).map((field) => [name, field, schema] as const);
});

test('there are fields', () => expect(cases.length).toBeGreaterThan(100));

test.each(cases)('%s: a wrong %s is told by what is expected', (_, field, schema) => {
  for (const value of WRONG) {
    try {
      parseInput(schema, { [field]: value });
    } catch (error) {
      expect(error).toMatchObject({ name: 'InvalidInput' });
      // A bare "Invalid input" is what a union says by itself.
      expect(String(error), JSON.stringify(value)).not.toMatch(/: Invalid input(?:[;.]|$)/);
    }
  }
});

test('however many and long the names of unknown fields are, what is told of them is short', () => {
  const schema = z.strictObject({ known: z.strictObject({}) });
  const messageOf = (input: unknown): string => {
    try {
      parseInput(schema, input);
      return '';
    } catch (error) {
      return String(error);
    }
  };
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, 1]));
  expect(messageOf({ known: many })).toContain('known: unknown field "k0", "k1", ');
  expect(messageOf({ known: many })).toContain('"k9" and 990 more.');
  expect(messageOf({ known: { ['x'.repeat(1_000_000)]: 1 } }).length).toBeLessThan(1000);
  expect(messageOf({ known: { one: 1, two: 2 } })).toContain('unknown field "one", "two".');
  const record = z.strictObject({ of: z.record(z.string(), z.string()) });
  expect(() => parseInput(record, { of: { ['y'.repeat(1_000_000)]: 1 } })).toThrow(/^.{1,1000}$/);
});
