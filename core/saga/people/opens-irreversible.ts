/**
 * Finds out what an approval lets happen. When the step runs sagas, its approval may be the only question
 * about what those sagas do.
 */
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SagaStore } from '../ports.ts';

/**
 * Whether the step, or a saga that it runs, does something that nothing takes back and that no further
 * approval guards.
 */
export const opensIrreversible = async (
  store: Pick<SagaStore, 'getPinnedStep'>,
  { sagaId, root = sagaId }: Pick<SagaHead, 'sagaId' | 'root'>,
  step: PinnedStep,
): Promise<boolean> => {
  if (step.kind !== 'children') return step.effect === 'irreversible';
  for (const { planHash, stepCount, interactive } of step.children) {
    if ((interactive?.allowIrreversible ?? []).length > 0) return true;
    for (let index = 0; index < stepCount; index += 1) {
      const below = await store.getPinnedStep(root, planHash, index);
      // A step with an approval of its own is asked about when its turn comes.
      if (below.approval === undefined && (await opensIrreversible(store, { sagaId: root }, below)))
        return true;
    }
  }
  return false;
};
