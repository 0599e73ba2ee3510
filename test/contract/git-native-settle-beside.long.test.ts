/** All of `git-settle.test.ts`, where the native program settles beside the scripts. */
import './git-settle.test.ts';
import { afterAll, expect } from 'vitest';
import { besideRestores } from '../support/git-native-restore.ts';

const beside = { compared: 0, left: [] };
besideRestores.native = beside;

afterAll(() => {
  expect(beside.compared).toBeGreaterThan(0);
});
