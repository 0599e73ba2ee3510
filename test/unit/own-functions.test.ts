/** Which functions of a directory or a module are served, under which names, and what is refused. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFunctions } from '../../local/lambda/functions.ts';
import type { FunctionPlan } from '../../local/plan.ts';

const OURS: FunctionPlan = {
  name: 'walkback-checkpoint',
  arn: 'arn',
  entry: 'functions/checkpoint.ts',
  timeoutMs: 1_000,
  memoryMb: 128,
  environment: {},
};

const withFiles = async (files: Record<string, string>) => {
  const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-own-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory.path, name), text);
  return directory;
};

test.each<[string, Record<string, string>, string, RegExp]>([
  ['a directory that is not there', {}, 'none', /there is no such directory or module/],
  ['a directory without functions', { 'helper.ts': 'export const help = 1;' }, '', /holds no module/],
  [
    'a module without functions',
    { 'helper.ts': 'export const help = 1;' },
    'helper.ts',
    /exports no function/,
  ],
  ['a module that does not load', { 'a.ts': 'export const handler = (' }, '', /a\.ts cannot be loaded/],
  ['a module that fails', { 'a.ts': 'throw new Error("no key");' }, '', /a\.ts cannot be loaded: no key/],
  ['a name that Lambda refuses', { 'a b.ts': 'export const handler = () => 1;' }, '', /"a b" is no name/],
  [
    'two modules of one name',
    { 'a.ts': 'export const handler = () => 1;', 'a.mjs': 'export const handler = () => 1;' },
    '',
    /are both a function "a"/,
  ],
  [
    'a name of Walkback’s own',
    { 'walkback-checkpoint.ts': 'export const handler = () => 1;' },
    '',
    /there is a function "walkback-checkpoint" already/,
  ],
  [
    'a time limit that is none',
    { 'a.ts': 'export const timeoutSeconds = "long"; export const handler = () => 1;' },
    '',
    /timeoutSeconds must be a whole number/,
  ],
])('%s is refused, and says which file', async (_, files, source, message) => {
  await using directory = await withFiles(files);
  await expect(createFunctions([OURS]).add(join(directory.path, source))).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringMatching(message),
  });
});

test('a directory serves the handlers of its modules, a module what it exports', async () => {
  await using directory = await withFiles({
    'book-flight.mjs':
      'export const timeoutSeconds = 60; export const handler = (event) => ({ flight: event });',
    'helper.mjs': 'export const help = () => 1;',
    'book-flight.test.mjs': 'export const handler = () => 1;',
    '_draft.mjs': 'export const handler = () => 1;',
    'several.mjs': 'const f = () => "f"; export { f, f as "g-h" }; export const version = 1;',
  });
  const functions = createFunctions([OURS]);
  const [flight, ...more] = await functions.add(directory.path);
  expect(more).toEqual([]);
  expect(flight).toMatchObject({
    name: 'book-flight',
    timeoutMs: 60_000,
    arn: expect.stringMatching(/:book-flight$/),
  });
  const named = await functions.add(join(directory.path, 'several.mjs'));
  expect(named.map(({ name }) => name).sort()).toEqual(['f', 'g-h']);
  const found = functions.find('g-h');
  expect(found && (await functions.invoke(found, {}))).toEqual({ failed: false, payload: '"f"' });
  expect(flight && (await functions.invoke(flight, 1))).toEqual({ failed: false, payload: '{"flight":1}' });
});
