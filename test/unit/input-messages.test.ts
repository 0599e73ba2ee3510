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
