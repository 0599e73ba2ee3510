import { expect, test } from 'vitest';
import { isAllowedLicence } from '../../build/licence.ts';

test.each([
  'MIT',
  'MIT/Apache-2.0',
  'GPL-3.0 OR MIT',
  '(MIT OR GPL-3.0) AND Unicode-3.0',
  'Apache-2.0 WITH LLVM-exception OR MIT',
])('%s is allowed', (licence) => expect(isAllowedLicence(licence)).toBe(true));

test.each([null, '', 'GPL-3.0', 'MIT AND GPL-3.0', '(MIT OR GPL-3.0) AND AGPL-3.0'])('%s is not', (licence) =>
  expect(isAllowedLicence(licence)).toBe(false),
);
