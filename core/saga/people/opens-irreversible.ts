/** What an approval lets happen: one that a step which runs sagas waits for is the only question about what they do. */
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SagaStore } from '../ports.ts';

/** Whether nothing takes back what the step does, or what the sagas do that it runs, without another approval. */
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
      // With an approval of its own it is asked about when its turn comes.
      if (below.approval === undefined && (await opensIrreversible(store, { sagaId: root }, below)))
        return true;
    }
  }
  return false;
};
