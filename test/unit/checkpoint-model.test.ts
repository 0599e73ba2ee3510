/** Any sequence of edits, checkpoints, rollbacks and rehydrations gives back exactly what was recorded. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCounter } from '../support/fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const PATHS = ['api', 'web', 'notes', 'late', 'extra'];

type Step =
  | { kind: 'edit'; path: string; text: string }
  | { kind: 'remove'; path: string }
  | { kind: 'forget' }
  | { kind: 'checkpoint' }
  | { kind: 'rollback'; pick: number; diesAt: number }
  | { kind: 'review'; pick: number }
  | { kind: 'resume'; pick: number; diesAt: number };

const path = fc.constantFrom(...PATHS);
const pick = fc.nat(1000);
const diesAt = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 30 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('edit' as const), path, text: fc.string({ maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'checkpoint' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rollback' as const), pick, diesAt }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('review' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const), pick, diesAt }) },
);

/** Runs with a function that dies at its `diesAt`th call, and then once more; 0 never dies. */
const insistently = async <T>(
  stage: Stage,
  diesAt: number,
  run: (instance: ReturnType<Stage['instance']>) => Promise<T>,
): Promise<T> => {
  if (diesAt > 0) {
    const dying = createCounter({ at: diesAt, when: diesAt % 2 === 0 ? 'before' : 'after', kind: 'death' });
    await run(stage.instance(dying)).catch(() => undefined);
  }
  return run(stage.instance());
};

test('what a checkpoint recorded is what a rollback or a rehydrate gives back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const stage = await createWorkingStage();
      const recorded = new Map<string, Record<string, Record<string, string>>>();
      const home = () => stage.session().sandboxId;
      const choose = (at: number) => [...recorded.keys()][at % recorded.size] ?? '';
      let count = 0;
      const record = async () => {
        const name = `p${count++}`;
        const files = stage.world.filesOf(home());
        const { checkpointId } = await stage.instance().checkpoint(name, name);
        recorded.set(checkpointId, files);
      };
      await record();
      for (const one of steps) {
        const request = `q${count++}`;
        switch (one.kind) {
          case 'edit':
            stage.edit(one.path, { 'f.txt': one.text }, home());
            break;
          case 'remove':
            stage.remove(one.path, home());
            if (stage.world.running.get(home())?.repositories.size === 0) stage.edit('api', {}, home());
            break;
          case 'forget':
            stage.world.running.get(home())?.commits.clear();
            stage.world.running.get(home())?.snapshots.clear();
            break;
          case 'checkpoint':
            await record();
            break;
          case 'rollback': {
            const checkpointId = choose(one.pick);
            const before = stage.world.filesOf(home());
            const { epoch } = stage.session();
            const answer = await insistently(stage, one.diesAt, ({ rollback }) =>
              rollback({ checkpointId, requestId: request }),
            );
            expect(stage.world.filesOf(home())).toEqual(recorded.get(checkpointId));
            expect(stage.session().epoch).toBe(epoch + 1);
            recorded.set(answer.undoCheckpointId ?? '', before);
            break;
          }
          case 'review': {
            const checkpointId = choose(one.pick);
            const { sandboxId } = await stage.instance().rehydrate({ checkpointId, requestId: request });
            expect(stage.world.filesOf(sandboxId)).toEqual(recorded.get(checkpointId));
            break;
          }
          case 'resume': {
            const checkpointId = choose(one.pick);
            const sandboxes = stage.world.running.size;
            await insistently(stage, one.diesAt, ({ rehydrate }) =>
              rehydrate({ mode: 'resume', checkpointId, requestId: request }),
            );
            expect(stage.world.filesOf(home())).toEqual(recorded.get(checkpointId));
            expect(stage.world.running.size).toBe(sandboxes + 1);
            break;
          }
        }
        expect(stage.session().busy).toBeUndefined();
      }
      const { checkpoints } = await stage.instance().timeline({ sessionId: SESSION, limit: 200 });
      expect(checkpoints.map(({ seq }) => seq).toReversed()).toEqual(
        checkpoints.map((_, index) => index + 1),
      );
      expect(stage.world.running.has(SANDBOX)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
