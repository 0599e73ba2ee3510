/** A rewind of a session whose function dies at any of its calls, before or after the call had its effect. */
import { expect, test } from 'vitest';
import { createCounter, Death } from './fakes/faults.ts';
import { printedSeed, sampled } from './sampling.ts';
import { rewindStage, UNDONE } from './session-rewind.ts';

/** How many calls the first two calls of the function make: the one that tells, and the one that brings the files. */
const rewindCalls = async (): Promise<[number, number]> => {
  const session = await rewindStage({ live: true });
  const [tells, brings] = [createCounter(), createCounter()];
  await session.askFirst(() => session.rewind({}, tells));
  for (;;) {
    await session.machine.settle();
    const { calls } = brings;
    calls.splice(0);
    if ((await session.rewind({}, brings)).status === 'REWOUND') return [tells.calls.length, calls.length];
  }
};

interface RewindDeath {
  /** In the call that tells the sagas, or in those that follow until it is through. */
  call: 'first' | 'following';
  at: number;
  when: 'before' | 'after';
}

const testRewindDeath = async ({ call, at, when }: RewindDeath): Promise<void> => {
  const session = await rewindStage({ live: true });
  let wrote = false;
  session.stage.world.duringRestore = () => {
    wrote = true;
    // Files are untouched until every effect is taken back.
    expect(session.undone()).toHaveLength(5);
  };
  const dying = () => {
    const counter = createCounter({ at, when, kind: 'death' });
    return session.rewind({}, counter).catch((error: unknown) => {
      if (!(error instanceof Death)) throw error;
      return { requestId: 'rw', status: 'UNDOING' as const, sagas: [] };
    });
  };
  await session.askFirst(call === 'first' ? dying : () => session.rewind());
  const follows = call === 'following' ? 6 : 0;
  for (let follow = 0; follow < follows; follow += 1) {
    await session.machine.settle();
    await dying();
  }
  // A rollback that died holds the session until the time of its call is over.
  session.stage.passMs(1_000_000);
  await session.machine.settle();
  expect(await session.carryOut()).toMatchObject({ status: 'REWOUND', trimAfterMessageId: 'm1' });
  expect(wrote).toBe(true);
  expect(session.files()['api']).toEqual({ 'a.txt': 'two' });
  expect(await session.statuses()).toEqual([...UNDONE, 'live RUNNING']);
  const undone = ['asks:0:undo', 'done:0:undo', 'done:1:undo', 'live:1:undo', 'live:2:undo'];
  expect(session.undone().toSorted()).toEqual(undone);
  expect((await session.sagas.store.getHead('live'))?.state.epoch).toBe(1);
  expect(session.stage.session().busy).toBeUndefined();
};

const all = async (): Promise<RewindDeath[]> => {
  const [first, following] = await rewindCalls();
  return (['before', 'after'] as const).flatMap((when) => [
    ...Array.from({ length: first }, (_, index): RewindDeath => ({ call: 'first', at: index + 1, when })),
    ...Array.from(
      { length: following },
      (_, index): RewindDeath => ({ call: 'following', at: index + 1, when }),
    ),
  ]);
};

export const testRewindDeaths = (): void => {
  const seed = printedSeed('session-rewind-deaths');
  const patience = { timeout: 1_200_000 };
  test('a rewind whose function dies is finished by the same request', patience, async () => {
    const deaths = await all();
    expect(deaths.length).toBeGreaterThanOrEqual(120);
    for (const death of sampled(deaths, { every: 13, offset: seed % 13, minimum: 8 })) {
      await testRewindDeath(death);
    }
  });
};
