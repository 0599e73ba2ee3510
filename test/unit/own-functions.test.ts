/** Which functions of a directory or a module are served, under which names, and what is refused. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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
  const functions = createFunctions([OURS]);
  onTestFinished(() => functions.close());
  await expect(functions.add(join(directory.path, source))).rejects.toMatchObject({
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

/** A function that does what its event says. */
const OBEDIENT = `
let calls = 0;
export const timeoutSeconds = 1;
export const handler = async ({ does }) => {
  calls += 1;
  if (does === 'blocks') for (;;);
  if (does === 'fails later') setTimeout(() => { throw new Error('nobody waits for this'); });
  if (does === 'fails later') await new Promise(() => undefined);
  return { calls, label: process.env.OWN_LABEL };
};
`;

const obedient = async () => {
  const directory = await withFiles({ 'obedient.mjs': OBEDIENT });
  const functions = createFunctions([OURS]);
  onTestFinished(async () => {
    await functions.close();
    await directory[Symbol.asyncDispose]();
  });
  const [fn] = await functions.add(directory.path);
  if (fn === undefined) throw new Error('it was not found');
  return {
    functions,
    does: async (what: string) => JSON.parse((await functions.invoke(fn, { does: what })).payload) as unknown,
  };
};

test('one that blocks for longer than it may is ended, and the next call finds a fresh one', async () => {
  const { does } = await obedient();
  expect(await does('nothing')).toMatchObject({ calls: 1 });
  const [blocked, behind] = await Promise.all([does('blocks'), does('nothing')]);
  expect(blocked).toMatchObject({ errorType: 'Sandbox.Timedout' });
  // It did not begin in the thread that was blocked, so none of its time was over.
  expect(behind).toMatchObject({ calls: 1 });
  expect(await does('nothing')).toMatchObject({ calls: 2 });
});

test('one that fails outside of its call ends its thread only, and is told so', async () => {
  const { does } = await obedient();
  expect(await does('fails later')).toMatchObject({ errorType: 'Runtime.ExitError' });
  expect(await does('nothing')).toMatchObject({ calls: 1 });
});

test('a fresh instance reads the environment again', async () => {
  vi.stubEnv('OWN_LABEL', 'one');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { does, functions } = await obedient();
  expect(await does('nothing')).toEqual({ calls: 1, label: 'one' });
  vi.stubEnv('OWN_LABEL', 'two');
  expect(await does('nothing')).toEqual({ calls: 2, label: 'one' });
  functions.coldStart();
  expect(await does('nothing')).toEqual({ calls: 1, label: 'two' });
});
