/** Functions of one's own that block: what they keep back, when they are ended, and how many threads there are. */
import { Worker } from 'node:worker_threads';
import { expect } from 'vitest';
import { createClaim, holderOf, withdrawClaim } from '../../local/lambda/claim.ts';
import { obedient, ownDirectory, serve } from '../support/own-functions.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('own-threads');

const LIMIT = (seconds: number): string => `export const timeoutSeconds = ${seconds};`;

test('one that blocks keeps back no other function of its directory, and no other call of its own', async () => {
  await using directory = await ownDirectory({
    'blocks.mjs': obedient(LIMIT(900)),
    'quick.mjs': obedient(LIMIT(900)),
  });
  await using own = await serve(directory);
  const blocked = own.ask('blocks', { does: 'blocks' });
  await directory.made('began');
  // Both answer before the gate is there.
  expect(await own.ask('quick')).toEqual({ calls: 1 });
  expect(await own.ask('blocks')).toEqual({ calls: 1 });
  await directory.write('gate');
  expect(await blocked).toEqual({ calls: 1 });
});

test('calls of one function share its memory while it does not block; functions share none', async () => {
  await using directory = await ownDirectory({
    'several.mjs': 'let n = 0; export const one = () => (n += 1); export const other = () => (n += 1);',
  });
  await using own = await serve({ ...directory, path: directory.file('several.mjs') });
  expect([await own.ask('one'), await own.ask('one'), await own.ask('other')]).toEqual([1, 2, 1]);
});

test('one that blocks beyond its time limit has ended when its caller is told', async () => {
  await using directory = await ownDirectory({ 'works.mjs': obedient(LIMIT(1)) });
  await using own = await serve(directory);
  expect(await own.ask('works', { does: 'works on' })).toMatchObject({ errorType: 'Sandbox.Timedout' });
  const traces = await directory.read('traces');
  // A fresh thread, and time for the old one to go on if it were there.
  expect(await own.ask('works')).toEqual({ calls: 1 });
  expect(await directory.read('traces')).toBe(traces);
});

test('one that waits for longer than it may is told so, and those beside it go on', async () => {
  await using directory = await ownDirectory({ 'waits.mjs': obedient(LIMIT(1)) });
  await using own = await serve(directory);
  expect(await own.ask('waits', { does: 'waits' })).toMatchObject({ errorType: 'Sandbox.Timedout' });
  expect(await own.ask('waits')).toEqual({ calls: 2 });
});

test('one that waits for another process beyond its time limit keeps nobody back', async () => {
  await using directory = await ownDirectory({ 'shell.mjs': obedient(LIMIT(1)) });
  await using own = await serve(directory);
  expect(await own.ask('shell', { does: 'shells out' })).toMatchObject({ errorType: 'Sandbox.Timedout' });
  expect(await own.ask('shell')).toEqual({ calls: 1 });
  // Nothing can end its thread before.
  await own.functions.close();
  expect(own.functions.isStuck()).toBe(true);
  await directory.write('gate');
  await expect.poll(() => own.functions.isStuck(), { timeout: 60_000 }).toBe(false);
});

test('one that leaves something behind that blocks its thread gets a fresh one', async () => {
  await using directory = await ownDirectory({ 'leaves.mjs': obedient() });
  await using own = await serve(directory);
  expect(await own.ask('leaves', { does: 'leaves a loop' })).toEqual({ calls: 1 });
  await directory.made('began');
  expect(await own.ask('leaves')).toEqual({ calls: 1 });
});

test('when no thread can take a call it is refused as Lambda does, and has not begun', async () => {
  const names = ['a', 'b', 'c'];
  await using directory = await ownDirectory(
    Object.fromEntries(names.map((name) => [`${name}.mjs`, obedient(LIMIT(900))])),
  );
  await using own = await serve(directory, { most: 3, mostFurther: 1 });
  const block = (name: string, began: string) => own.ask(name, { does: 'blocks', began });
  const blocked = [block('a', 'a1'), block('b', 'b1')];
  await Promise.all([directory.made('a1'), directory.made('b1')]);
  // One more than the first of each.
  blocked.push(block('a', 'a2'));
  await directory.made('a2');
  await expect(block('a', 'a3')).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  // No place for the first one of another function.
  await expect(block('c', 'c1')).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  await directory.write('gate');
  await Promise.all(blocked);
  expect(await own.ask('c')).toEqual({ calls: 1 });
  expect([directory.has('a3'), directory.has('c1')]).toEqual([false, false]);
});

test('one that is idle gives its place to another function', async () => {
  const names = ['a', 'b', 'c', 'd'];
  await using directory = await ownDirectory(
    Object.fromEntries(names.map((name) => [`${name}.mjs`, obedient()])),
  );
  await using own = await serve(directory, { most: 2 });
  const seen: unknown[] = [];
  for (const name of ['a', 'b', 'b', 'c', 'd', 'd', 'a']) seen.push((await own.ask(name))['calls']);
  // `a` was idle for longest, again and again.
  expect(seen).toEqual([1, 1, 2, 1, 1, 2, 1]);
});

test('many functions and calls at once are all answered by a few threads', async () => {
  const names = Array.from({ length: 9 }, (_, n) => `f${n}`);
  await using directory = await ownDirectory(
    Object.fromEntries(names.map((name) => [`${name}.mjs`, obedient()])),
  );
  await using own = await serve(directory, { most: 3, mostFurther: 1 });
  // What finds no place has not begun, so it may be asked again.
  const untilTaken = async (name: string): Promise<unknown> => {
    for (;;) {
      const answer = await own.ask(name).catch((error: Error) => error);
      if (!(answer instanceof Error)) return answer;
      expect(answer.name).toBe('TooManyRequestsException');
    }
  };
  const calls = names.flatMap((name) => Array.from({ length: 20 }, () => untilTaken(name)));
  expect(await Promise.all(calls)).toHaveLength(180);
});

test('of threads that want the same call at the same time one gets it, or nobody when it was withdrawn', async () => {
  const claims = Array.from({ length: 20_000 }, createClaim);
  const path = new URL('../../local/lambda/claim.ts', import.meta.url).href;
  const program = `
    const { parentPort, threadId, workerData } = require('node:worker_threads');
    import(${JSON.stringify(path)}).then(({ takeClaim }) => {
      parentPort.postMessage('ready');
      parentPort.once('message', () => {
        const mine = workerData.map((claim, n) => [n, takeClaim(claim, threadId)]).filter(([, isMine]) => isMine);
        parentPort.postMessage(mine.map(([n]) => n));
      });
    });`;
  const workers = [1, 2].map(() => new Worker(program, { eval: true, workerData: claims }));
  const said = (worker: Worker) => new Promise<number[]>((resolve) => worker.once('message', resolve));
  await Promise.all(workers.map(said));
  const numbers = workers.map(({ threadId }) => threadId);
  const taken = workers.map(said);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  for (const worker of workers) worker.postMessage('go');
  const withdrawn = claims
    .map((claim, n) => [n, withdrawClaim(claim)] as const)
    .filter(([, isFree]) => isFree);
  const all = await Promise.all(taken);
  for (const [worker, mine] of all.entries())
    for (const n of mine) expect(holderOf(claims[n] ?? createClaim())).toBe(numbers[worker]);
  for (const [n] of withdrawn) expect(holderOf(claims[n] ?? createClaim())).toBeUndefined();
  expect([...all.flat(), ...withdrawn.map(([n]) => n)].toSorted((a, b) => a - b)).toEqual(
    claims.map((_, n) => n),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
});
