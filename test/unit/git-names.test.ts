/** Names are bytes in the sandbox, and text in the store. The program in the sandbox reads them back (sandbox/src/wire/name.rs). */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName } from '../../adapters/git/names.ts';

const PIECES = [
  'a',
  '/',
  "'",
  '"',
  '\\',
  '\\x',
  '\\xe9',
  '\\x5c',
  '\n',
  '$(id)',
  '`',
  'é',
  '\u{1f600}',
  '\ufeff',
];

const names = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PIECES).map((text) => Buffer.from(text)),
      fc
        .uint8Array({ minLength: 1, maxLength: 4 })
        .map((bytes) => Buffer.from(bytes.filter((one) => one !== 0))),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts))
  .filter((bytes) => bytes.length > 0);

test('a text comes through JSON as it was', () => {
  fc.assert(
    fc.property(names, (bytes) => {
      const text = decodeName(bytes);
      expect(JSON.parse(Buffer.from(JSON.stringify(text), 'utf8').toString('utf8'))).toBe(text);
    }),
    { numRuns: 200 },
  );
});

test('no two names have the same text', () => {
  fc.assert(
    fc.property(names, names, (one, other) => {
      expect(decodeName(one) === decodeName(other)).toBe(one.equals(other));
    }),
    { numRuns: 500 },
  );
});

test('a name that is UTF-8 is itself, whatever backslashes it has', () => {
  expect(decodeName(Buffer.from('caf\u00e9/a\\b \\xzz'))).toBe('caf\u00e9/a\\b \\xzz');
  expect(decodeName(Buffer.from('caf\u00e9-\xe9', 'latin1'))).toBe('caf\\xe9-\\xe9');
});
