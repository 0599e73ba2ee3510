/** Names are bytes from the sandbox to the store and back. */
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName } from '../../adapters/git/names.ts';
import { assignments } from '../../adapters/git/script.ts';

const inBash = (names: readonly string[]): Buffer =>
  execFileSync('bash', ['-c', `${assignments({ R_PATH: names })}\nprintf '%s\\0' "\${R_PATH[@]}"`]);

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

test('any bytes but NUL come back as they were, and through JSON', () => {
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 10 }), (all) => {
      const texts = all.map((bytes) => decodeName(bytes));
      const stored = JSON.parse(Buffer.from(JSON.stringify(texts), 'utf8').toString('utf8')) as string[];
      expect(inBash(stored)).toEqual(Buffer.concat(all.flatMap((bytes) => [bytes, Buffer.from([0])])));
    }),
    { numRuns: 60 },
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
  expect(inBash(['caf\\xe9'])).toEqual(Buffer.from('caf\xe9\0', 'latin1'));
});
