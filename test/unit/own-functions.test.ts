/** Which functions of a directory or a module are served, under which names, and what is refused. */
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFunctions } from '../../local/lambda/functions.ts';
import { OURS, obedient, ownDirectory, serve } from '../support/own-functions.ts';

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
  await using directory = await ownDirectory(files);
  const functions = createFunctions([OURS]);
  onTestFinished(() => functions.close());
  await expect(functions.add(join(directory.path, source))).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringMatching(message),
  });
});

test('a directory serves the handlers of its modules, a module what it exports', async () => {
  await using directory = await ownDirectory({
    'book-flight.mjs':
      'export const timeoutSeconds = 60; export const handler = (event) => ({ flight: event });',
    'helper.mjs': 'export const help = () => 1;',
    'book-flight.test.mjs': 'export const handler = () => 1;',
    '_draft.mjs': 'export const handler = () => 1;',
    'several.mjs': 'const f = () => "f"; export { f, f as "g-h" }; export const version = 1;',
  });
  const functions = createFunctions([OURS]);
  onTestFinished(() => functions.close());
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

test('a fresh instance reads the environment again', async () => {
  vi.stubEnv('OWN_LABEL', 'one');
  onTestFinished(() => void vi.unstubAllEnvs());
  await using directory = await ownDirectory({ 'obedient.mjs': obedient() });
  await using own = await serve(directory);
  expect(await own.ask('obedient')).toEqual({ calls: 1, label: 'one' });
  vi.stubEnv('OWN_LABEL', 'two');
  expect(await own.ask('obedient')).toEqual({ calls: 2, label: 'one' });
  own.functions.coldStart();
  expect(await own.ask('obedient')).toEqual({ calls: 1, label: 'two' });
});
