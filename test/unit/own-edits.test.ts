/** A function of one's own that was edited: its code, what it imports and its time limit are those of its file. */
import { rm, utimes } from 'node:fs/promises';
import { expect, onTestFinished } from 'vitest';
import { type OwnDirectory, ownDirectory, serve } from '../support/own-functions.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('own-edits');

const limit = (seconds: string | number, more = ''): string => `
import { word } from './word.mjs';
export const timeoutSeconds = ${seconds};
export const handler = async ({ does }, context) => {
  if (does === 'waits') await new Promise(() => undefined);
  return { word, isLong: context.getRemainingTimeInMillis() > 60_000 };
};${more}`;

let later = 0;
/** As an editor saves it, later than before whatever the clock's steps are. */
const edit = async (directory: OwnDirectory, text: string): Promise<void> => {
  await directory.write('one.mjs', text);
  later += 5_000;
  await utimes(directory.file('one.mjs'), new Date(), new Date(Date.now() + later));
};

const open = async (text: string) => {
  const directory = await ownDirectory({ 'word.mjs': "export const word = 'old';", 'one.mjs': text });
  const own = await serve(directory);
  onTestFinished(async () => {
    await own[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  const secondsNow = async (): Promise<number> => {
    const fn = own.functions.find('one');
    if (fn === undefined) throw new Error('it is not there');
    return (await own.functions.current(fn)).timeoutMs / 1000;
  };
  return { ...own, directory, secondsNow };
};

test('its next call has the new time limit, and so has its configuration', async () => {
  const { directory, ask, secondsNow } = await open(limit(900));
  expect(await ask('one')).toEqual({ word: 'old', isLong: true });
  await edit(directory, limit(1));
  expect(await ask('one', { does: 'waits' })).toMatchObject({
    errorType: 'Sandbox.Timedout',
    errorMessage: expect.stringContaining('timed out after 1.00 seconds'),
  });
  expect(await secondsNow()).toBe(1);
  await edit(directory, limit(300));
  expect(await ask('one')).toMatchObject({ isLong: true });
  expect(await secondsNow()).toBe(300);
});

test('its configuration is new before its next call', async () => {
  const { directory, secondsNow } = await open(limit(20));
  expect(await secondsNow()).toBe(20);
  await edit(directory, limit(40));
  expect(await Promise.all([secondsNow(), secondsNow()])).toEqual([40, 40]);
});

test('what it imports is read again with it', async () => {
  const { directory, ask } = await open(limit(900));
  expect(await ask('one')).toMatchObject({ word: 'old' });
  await directory.write('word.mjs', "export const word = 'new';");
  await edit(directory, limit(900));
  expect(await ask('one')).toMatchObject({ word: 'new' });
});

test('what it imports, directly or not, now or in a call, is read again when that alone was edited', async () => {
  const { directory, ask } = await open(limit(900));
  const save = async (name: string, text: string): Promise<void> => {
    await directory.write(name, text);
    later += 5_000;
    await utimes(directory.file(name), new Date(), new Date(Date.now() + later));
  };
  expect(await ask('one')).toMatchObject({ word: 'old' });
  await save('word.mjs', "export { word } from './other.ts';");
  await save('other.ts', "export const word: string = 'other';");
  expect(await ask('one')).toMatchObject({ word: 'other' });
  await save('other.ts', "export const word: string = 'edited';");
  expect(await ask('one')).toMatchObject({ word: 'edited' });
  await save(
    'other.ts',
    "import { createRequire } from 'node:module'; export const { word } = createRequire(import.meta.url)('./plain.cjs');",
  );
  await save('plain.cjs', "exports.word = 'plain';");
  expect(await ask('one')).toMatchObject({ word: 'plain' });
  await save('plain.cjs', "exports.word = 'plain again';");
  expect(await ask('one')).toMatchObject({ word: 'plain again' });
  await edit(directory, "export const handler = async () => (await import('./later.mjs')).default;");
  await save('later.mjs', 'export default 1;');
  expect(await ask('one')).toBe(1);
  await save('later.mjs', 'export default 2;');
  expect(await ask('one')).toBe(2);
});

test('an import that is gone is told, and read again when it is back', async () => {
  const { directory, ask } = await open(limit(900));
  expect(await ask('one')).toMatchObject({ word: 'old' });
  await rm(directory.file('word.mjs'));
  expect(await ask('one')).toMatchObject({ errorMessage: expect.stringContaining('word.mjs') });
  await directory.write('word.mjs', "export const word = 'back';");
  expect(await ask('one')).toMatchObject({ word: 'back' });
});

test('a function whose files stay keeps its thread', async () => {
  const { ask } = await open('let calls = 0; export const handler = () => (calls += 1);');
  expect([await ask('one'), await ask('one'), await ask('one')]).toEqual([1, 2, 3]);
});

test('one that no longer loads says so, keeps its limit, and serves again when it is mended', async () => {
  const { directory, ask, secondsNow } = await open(limit(900));
  await edit(directory, limit(900, '('));
  expect(await ask('one')).toMatchObject({ errorType: 'SyntaxError' });
  await edit(directory, limit('"long"'));
  expect(await ask('one')).toMatchObject({
    errorType: 'ConfigurationError',
    errorMessage: expect.stringContaining('timeoutSeconds must be a whole number'),
  });
  expect(await secondsNow()).toBe(900);
  await edit(directory, limit(10));
  expect(await ask('one')).toMatchObject({ word: 'old' });
  expect(await secondsNow()).toBe(10);
});

test('one that fails to load is loaded again by its next call, also when something else was mended', async () => {
  const { directory, ask } = await open(limit(900));
  await directory.write('word.mjs', "export const none = '';");
  await edit(directory, limit(900));
  expect(await ask('one')).toMatchObject({ errorType: 'SyntaxError' });
  await directory.write('word.mjs', "export const word = 'mended';");
  expect(await ask('one')).toMatchObject({ word: 'mended' });
});

test('a call that is under way when its file is edited ends as it began', async () => {
  const { directory, ask } = await open(`
import { existsSync, writeFileSync } from 'node:fs';
const at = (name) => import.meta.dirname + '/' + name;
export const handler = async () => {
  writeFileSync(at('began'), '');
  while (!existsSync(at('gate'))) await new Promise((resolve) => setTimeout(resolve, 5));
  return 'old';
};`);
  const old = ask('one');
  await directory.made('began');
  await edit(directory, "export const handler = () => 'new';");
  expect(await ask('one')).toBe('new');
  await directory.write('gate');
  expect(await old).toBe('old');
});
