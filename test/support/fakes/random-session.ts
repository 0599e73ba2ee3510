/** Random sessions with rollbacks that break off among them: what was ever there when somebody else acted is never lost. */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import { type Break, breakOff, everythingHeld } from './abandoned.ts';
import { createWorkingStage, type Stage } from './stage.ts';

const point = fc.nat(1000);
const broken: fc.Arbitrary<Break> = fc.record({
  where: fc.constantFrom('before call' as const, 'after call' as const, 'at file' as const),
  at: fc.integer({ min: 1, max: 30 }),
  kind: fc.constantFrom('death' as const, 'error' as const),
});

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      of: fc.constantFrom('api', 'web', 'notes', 'late', 'other'),
      file: fc.constantFrom('a.txt', 'w.txt', 'n.txt', 'mine.txt'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), of: fc.constantFrom('late', 'other') }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rollback' as const), to: point }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('broken rollback' as const), to: point, broken }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('broken checkpoint' as const), broken }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('plan' as const), to: point }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Does one step as the functions do it; answers the request that was begun, when it is a rollback. */
const act = async (
  stage: Stage,
  one: Step,
  n: number,
  last: { checkpointId: string; requestId: string } | undefined,
) => {
  const checkpoints = stage.checkpoints();
  const target = (to: number) => checkpoints[to % checkpoints.length]?.checkpointId ?? '';
  const rollback = (to: number) => ({ checkpointId: target(to), requestId: `r${n}`, allowPartial: true });
  switch (one.kind) {
    case 'edit':
      stage.edit(one.of, { [one.file]: `made in step ${n}` });
      return last;
    case 'remove':
      stage.remove(one.of);
      return last;
    case 'checkpoint':
      await stage.instance().checkpoint(`m${n}`, `t${n}`);
      return last;
    case 'broken checkpoint':
      await breakOff(stage, one.broken, (instance) => instance.checkpoint(`m${n}`, `t${n}`));
      return last;
    case 'rollback':
      await stage.instance().rollback(rollback(one.to));
      return rollback(one.to);
    case 'broken rollback':
      await breakOff(stage, one.broken, (instance) => instance.rollback(rollback(one.to)));
      return rollback(one.to);
    case 'plan':
      await stage.instance().rollback({ ...rollback(one.to), dryRun: true });
      return last;
    case 'again':
      // What the answer of a rollback that failed or was settled is, it has said.
      if (last !== undefined) await stage.instance().rollback({ ...last, allowPartial: true });
      return last;
  }
};

const EXPECTED = ['RollbackAbandoned', 'RollbackInProgress', 'SandboxChanged'];

const play = async (steps: readonly Step[]): Promise<number> => {
  const stage = await createWorkingStage();
  let last: { checkpointId: string; requestId: string } | undefined;
  let settled = 0;
  for (const [n, one] of steps.entries()) {
    const isUser = one.kind === 'edit' || one.kind === 'remove';
    const before = isUser ? new Set<string>() : everythingHeld(stage);
    try {
      last = await act(stage, one, n, last);
    } catch (error) {
      if (!isWalkbackError(error) || !EXPECTED.includes(error.name)) throw error;
    }
    const after = everythingHeld(stage);
    for (const content of before)
      expect(after.has(content), `step ${n}, ${one.kind}: ${content} is lost`).toBe(true);
    // A call that died holds the session until its deadline.
    stage.passMs(1_000_000);
    if (stage.session().settledRollback !== undefined) settled += 1;
  }
  await stage.instance().checkpoint('end', 'end');
  expect(stage.session().busy).toBeUndefined();
  return settled;
};

/** Answers in how many steps a rollback had been settled: that the runs met what they are about. */
export const playRandomSessions = async (runs: number, seed: number): Promise<number> => {
  let settled = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      settled += await play(steps);
    }),
    { seed, numRuns: runs },
  );
  return settled;
};
