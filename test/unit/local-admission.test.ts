/** The embedded cloud begins a bounded number of things at a time, the rest in order. */
import { expect, test } from 'vitest';
import { createAdmission } from '../../local/lambda/admission.ts';
import { createPlaces } from '../../local/places.ts';
import { createSeat } from '../../local/stepfunctions/seat.ts';

/** All promises that can go on have gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('places are taken by the smallest number first, and by whoever came first among equals', async () => {
  const places = createPlaces(1);
  await places.take();
  const went: string[] = [];
  const come = async (name: string, order: number) => {
    await places.take({ order });
    went.push(name);
    places.leave();
  };
  const all = [come('late', 9), come('young', 5), come('old', 1), come('twin of young', 5)];
  places.leave();
  await Promise.all(all);
  expect(went).toEqual(['old', 'young', 'twin of young', 'late']);
});

test('who waited long enough stands in line no more, and its place goes to the next', async () => {
  const places = createPlaces(1);
  await places.take();
  expect(await places.take({ atMostMs: 1 })).toBe(false);
  const next = places.take();
  places.leave();
  expect(await next).toBe(true);
  places.leave();
  expect(await places.take({ atMostMs: 1 })).toBe(true);
});

const blocked = () => {
  const gate = Promise.withResolvers<void>();
  return { work: () => gate.promise, end: gate.resolve };
};

test('calls that work in sandboxes stand in one line, and keep their place while they work', async () => {
  const admission = createAdmission(32, 0, 2);
  const begun: string[] = [];
  const names = ['checkpoint', 'rollback', 'checkpoint', 'merge', 'timeline'];
  const calls = names.map((name, at) => {
    const one = blocked();
    const work = () => {
      begun.push(`${name} ${at}`);
      return one.work();
    };
    return { ...one, ended: admission.inTurn(`walkback-${name}`, work) };
  });
  // Others give their place up after 0 ms here.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await settled();
  expect(begun).toEqual(['checkpoint 0', 'rollback 1', 'timeline 4']);
  calls[0]?.end();
  await settled();
  expect(begun.slice(3)).toEqual(['checkpoint 2']);
  calls[1]?.end();
  await settled();
  expect(begun.slice(4)).toEqual(['merge 3']);
  for (const { end } of calls) end();
  await Promise.all(calls.map(({ ended }) => ended));
});

test('a function is begun so many times at once, each function for itself', async () => {
  const admission = createAdmission(2, 60_000);
  const begun: string[] = [];
  const calls = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => {
    const one = blocked();
    const work = () => {
      begun.push(name);
      return one.work();
    };
    return { ...one, ended: admission.inTurn(name.slice(0, 1), work) };
  });
  await settled();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  calls[1]?.end();
  await settled();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (const { end } of calls) end();
  await Promise.all(calls.map(({ ended }) => ended));
  expect(begun).toHaveLength(5);
});

test('those who wait in describe-saga stand in no line', async () => {
  const admission = createAdmission(1, 60_000);
  const waiting = blocked();
  const first = admission.inTurn('walkback-describe-saga', waiting.work);
  await admission.inTurn('walkback-describe-saga', async () => undefined);
  waiting.end();
  await first;
});

test('one that fails gives its place back, and one that takes long keeps nobody waiting', async () => {
  const admission = createAdmission(1, 1);
  const failing = admission.inTurn('f', () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  const long = blocked();
  const first = admission.inTurn('f', long.work);
  // It begins although the one before never ends by itself: it may be what that one waits for.
  await admission.inTurn('f', async () => long.end());
  await first;
});

test('a seat that is closed in line, or asked for twice, costs no place', async () => {
  const places = createPlaces(1);
  const [first, second] = [createSeat(places, 1), createSeat(places, 2)];
  await first.first();
  const waiting = [second.beforeCall(), second.beforeCall()];
  second.close();
  first.leave();
  first.leave();
  await Promise.all(waiting);
  expect(await places.take({ atMostMs: 1 })).toBe(true);
  expect(await places.take({ atMostMs: 1 })).toBe(false);
});
