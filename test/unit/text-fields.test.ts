/** What a text may be is said twice: by a rule in words here, and by the pattern of the field, which JSON Schemas have too. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { line, relativePath } from '../../contract/fields.ts';
import { commitment } from '../../contract/workspace-inputs.ts';
import { schemaViolations } from '../../core/saga/plan/schema-check.ts';

const isRelative = (value: string): boolean =>
  !value.includes('\0') &&
  value
    .replace(/\/$/, '')
    .split('/')
    .every((part, _index, parts) => part !== '' && part !== '..' && (part !== '.' || parts.length === 1));

const characters = fc.string({
  unit: fc.constantFrom('/', '.', 'a', ' ', '\n', '\0', 'é', '🧵'),
  maxLength: 9,
});

test('a path below the projects root, whatever it is made of', () => {
  fc.assert(
    fc.property(characters, (value) => {
      expect(relativePath(100).safeParse(value).success).toBe(value !== '' && isRelative(value));
    }),
    { numRuns: 5000 },
  );
});

test('a line has no control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }), (value) => {
      expect(line(100).safeParse(value).success).toBe(!/\p{Cc}/u.test(value));
    }),
    { numRuns: 5000 },
  );
});

test('a path as long as a field takes, of nothing but dots, is judged at once', () => {
  expect(relativePath(4096).safeParse(`${'.'.repeat(4095)}/`).success).toBe(true);
  expect(relativePath(4096).safeParse(`${'../'.repeat(1365)}.`).success).toBe(false);
  expect(relativePath(4096).safeParse(`${'.a/'.repeat(1365)}\0`).success).toBe(false);
});

test('the schemas that others read have the patterns, without what models refuse', () => {
  const { properties } = z.toJSONSchema(commitment(), { io: 'input' });
  for (const name of ['description', 'command', 'cwd']) {
    const { pattern = '' } = (properties?.[name] ?? {}) as { pattern?: string };
    expect(pattern, name).toMatch(/^\^.*\$$/);
    expect(pattern, name).not.toMatch(/\(\?[=!<]/);
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
  }
});

test('a value that breaks a pattern is told with what the field is', () => {
  const field = { type: 'string', pattern: '^a$', description: 'the first letter' };
  const schema = { type: 'object', properties: { plain: { ...field, description: undefined }, told: field } };
  expect(schemaViolations(JSON.parse(JSON.stringify(schema)), { plain: 'b', told: 'b' })).toEqual([
    '/plain must match pattern "^a$"',
    '/told must match pattern "^a$" (the first letter)',
  ]);
});
