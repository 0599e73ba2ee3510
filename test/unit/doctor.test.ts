import { expect, test } from 'vitest';
import { isAtLeast } from '../../core/shared/versions.ts';

test.each([
  ['git version 2.39.5', [2, 25], true],
  ['git version 2.25.0', [2, 25], true],
  ['git version 2.9.5', [2, 25], false],
  ['git version 3.0.0', [2, 25], true],
  ['v24.21.0', [24, 0], true],
  ['v20.20.2', [24, 0], false],
  ['no version', [1, 0], false],
] as const)('%s is at least %j: %s', (text, least, answer) => {
  expect(isAtLeast(text, least)).toBe(answer);
});
