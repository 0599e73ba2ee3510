/** What goes wrong in a function of one's own is said in the answer of its call and in its log, with time, name, file and place. */
import { expect, onTestFinished, vi } from 'vitest';
import { createFunctions } from '../../local/lambda/functions.ts';
import { obedient, ownDirectory, serve } from '../support/own-functions.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('own-faults');

/** What is written to stderr meanwhile. */
const log = (): (() => string) => {
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return () => said;
};

const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;

test.each([
  ['fails later', 'RangeError: nobody waits for this (outside of a call)', /seat\.mjs:\d+:\d+/],
  ['rejects', 'RangeError: nobody handles this (outside of a call)', /seat\.mjs:\d+:\d+/],
  ['exits', 'it called process.exit(3)', /seat\.mjs:\d+:\d+/],
])('one that %s ends its own thread only, and where that was is said', async (does, reason, place) => {
  await using directory = await ownDirectory({ 'seat.mjs': obedient(), 'other.mjs': obedient() });
  await using own = await serve(directory);
  const said = log();
  expect(await own.ask('other')).toEqual({ calls: 1 });
  const answer = await own.ask('seat', { does });
  const file = directory.file('seat.mjs');
  expect(answer).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringMatching(/^RequestId: [\w-]+ Error: Runtime exited: /),
  });
  expect(answer['errorMessage']).toContain(`function seat (${file}): ${reason}`);
  expect(String(answer['trace'])).toMatch(place);
  expect(said()).toMatch(new RegExp(`^${TIME} function seat `, 'm'));
  expect(said()).toContain(`function seat (${file}): ${reason}`);
  expect(said()).toMatch(place);
  expect(await own.ask('seat')).toEqual({ calls: 1 });
  expect(await own.ask('other')).toEqual({ calls: 2 });
});

test('an error between calls is said as well', async () => {
  await using directory = await ownDirectory({
    'late.mjs': `export const handler = () => {
      setImmediate(() => setImmediate(() => { throw new RangeError('after its answer'); }));
      return 1;
    };`,
  });
  await using own = await serve(directory);
  const said = log();
  expect(await own.ask('late')).toBe(1);
  await expect.poll(said, { timeout: 60_000 }).toContain('RangeError: after its answer (outside of a call)');
  expect(said()).toMatch(/late\.mjs:2:\d+/);
});

test('an error of a handler has the stack that the deployed runtime gives it, and is in the log', async () => {
  await using directory = await ownDirectory({ 'seat.mjs': obedient() });
  await using own = await serve(directory);
  const said = log();
  expect(await own.ask('seat', { does: 'fails' })).toEqual({
    errorType: 'TypeError',
    errorMessage: 'no such seat\u001b[2J',
    trace: expect.arrayContaining([expect.stringMatching(/seat\.mjs:\d+:\d+/)]),
  });
  expect(said()).toContain(`function seat (${directory.file('seat.mjs')}): TypeError: no such seat\\x1b[2J`);
  expect(said()).toMatch(/seat\.mjs:\d+:\d+/);
  // It goes on in the same thread.
  expect(await own.ask('seat')).toEqual({ calls: 2 });
});

test('one that hoards memory ends its own thread only, at the size of a function', async () => {
  await using directory = await ownDirectory({ 'seat.mjs': obedient() });
  await using own = await serve(directory);
  log();
  const { errorType, errorMessage } = await own.ask('seat', { does: 'hoards' });
  expect([errorType, errorMessage]).toEqual([
    'Runtime.ExitError',
    expect.stringContaining('it needed more than the 1024 MB of a function'),
  ]);
  expect(await own.ask('seat')).toEqual({ calls: 1 });
});

test('a module that ends or fails while it is read is refused, with the reason, and its place is said', async () => {
  await using directory = await ownDirectory({
    'ends.mjs': 'process.exit(4); export const handler = () => 1;',
    'throws.mjs': 'setImmediate(() => { throw new RangeError("no key"); }); await new Promise(() => {});',
  });
  const functions = createFunctions([]);
  onTestFinished(() => functions.close());
  const said = log();
  const refused = async (name: string) => {
    await expect(functions.add(directory.file(name))).rejects.toMatchObject({ name: 'ConfigurationError' });
    return functions.add(directory.file(name)).catch((error: Error) => error.message);
  };
  expect(await refused('ends.mjs')).toContain('ends.mjs cannot be loaded: it called process.exit(4)');
  expect(said()).toMatch(/ends\.mjs:1:\d+/);
  expect(await refused('throws.mjs')).toContain('throws.mjs cannot be loaded: RangeError: no key');
  expect(said()).toMatch(/throws\.mjs:1:\d+/);
});
