/** One execution for one request id, on a clock that is moved by hand. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { createJoinCall, type KeptCall, type KeptCalls } from '../../core/checkpoint/workspace/join-call.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';

type Asked = { requestId?: string; sessionId?: string; what?: string };

const createScene = () => {
  const kept = new Map<string, { call: KeptCall; answer?: unknown }>();
  const calls: KeptCalls = {
    get: async (key) => kept.get(key)?.call,
    answerOf: async (key) => kept.get(key)?.answer,
    begin: async (key, call, before) => {
      if (!isDeepStrictEqual(kept.get(key)?.call, before)) return false;
      kept.set(key, { call });
      return true;
    },
    move: async (key, call, answer) => {
      const there = kept.get(key)?.call;
      if (there?.claim === call.claim && there.state === 'running') kept.set(key, { call, answer });
    },
  };
  let nowMs = 0;
  let claims = 0;
  const beats = new Set<() => void>();
  const clock = {
    now: () => new Date(nowMs),
    sleep: async (ms: number) => {
      nowMs += ms;
      for (const beat of beats) beat();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
    every: (_: number, act: () => void) => {
      beats.add(act);
      return () => beats.delete(act);
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  const join = createJoinCall({ calls, clock, log, random: () => `claim-${(claims += 1)}` });
  const begun: PromiseWithResolvers<string>[] = [];
  const work = join<Asked, string>('verify-commitments', async () => {
    const running = Promise.withResolvers<string>();
    begun.push(running);
    return running.promise;
  });
  const ask = (asked: Asked) => work(asked, { deadlineMs: nowMs + 900_000 });
  /** Begins it, and does not wait for its end. */
  const begin = (asked: Asked, count = 1) => {
    const asking = ask(asked);
    asking.catch(() => undefined);
    return expect
      .poll(() => begun.length)
      .toBe(count)
      .then(() => ({ asking }));
  };
  const kill = () => beats.clear();
  return { ask, begin, begun, clock, kill };
};

const ASKED = { sessionId: 's', requestId: 'r', what: 'a' };

test('who asks again waits for the first, and has its answer for ten minutes', async () => {
  const { ask, begin, begun, clock } = createScene();
  const { asking } = await begin(ASKED);
  await failing(ask(ASKED), 'StillRunning');
  await failing(ask(ASKED), 'StillRunning');
  const joined = ask(ASKED);
  begun[0]?.resolve('kept');
  expect([await asking, await joined, await ask(ASKED)]).toEqual(['kept', 'kept', 'kept']);
  expect(begun).toHaveLength(1);
  await clock.sleep(10 * 60_000);
  await begin(ASKED, 2);
});

test('another request under the same id is refused, and one without an id or of another session is its own', async () => {
  const { ask, begin } = createScene();
  await begin(ASKED);
  await failing(ask({ ...ASKED, what: 'b' }), 'RequestConflict');
  await begin({ ...ASKED, sessionId: 't' }, 2);
  await begin({ sessionId: 's', what: 'a' }, 3);
  await begin({ sessionId: 's', what: 'a' }, 4);
});

test('a refusal is told to who joins; after a fault that may pass it is begun anew', async () => {
  const { ask, begin, begun } = createScene();
  const { asking } = await begin(ASKED);
  begun[0]?.reject(new WalkbackError('IncompleteTarget', 'not complete'));
  await failing(asking, 'IncompleteTarget');
  expect((await failing(ask(ASKED), 'IncompleteTarget')).message).toBe('not complete');

  const other = { ...ASKED, requestId: 'other' };
  const first = await begin(other, 2);
  begun[1]?.reject(new WalkbackError('SandboxUnavailable', 'busy'));
  await failing(first.asking, 'SandboxUnavailable');
  const again = await begin(other, 3);
  begun[2]?.resolve('kept');
  expect(await again.asking).toBe('kept');
});

test('a call that is alive is never begun twice, and one that was killed is begun anew', async () => {
  const { ask, begin, begun, clock, kill } = createScene();
  await begin(ASKED);
  for (let quarter = 0; quarter < 8; quarter += 1) {
    await clock.sleep(15_000);
    await failing(ask(ASKED), 'StillRunning');
  }
  expect(begun).toHaveLength(1);
  kill();
  await clock.sleep(60_000);
  const again = await begin(ASKED, 2);
  // Whatever the first one answers now is nobody's.
  begun[0]?.resolve('late');
  begun[1]?.resolve('kept');
  expect([await again.asking, await ask(ASKED)]).toEqual(['kept', 'kept']);
});
