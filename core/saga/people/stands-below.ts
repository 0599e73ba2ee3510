/** What nothing takes back in the children that steps ran. It is asked about before their root turns back. */
import type { UndoPlan } from '../../../contract/saga-answers.ts';
import { isFinal } from '../decide/effects.ts';
import { readLedger, type ToldEntry } from '../ledger/read-ledger.ts';
import type { SagaStore } from '../ports.ts';
import { isChildOf, namedIn } from '../run/prepare-children.ts';
import { type Story, storiesOf } from './stories.ts';
import { undoPlanOf } from './undo-plan.ts';

type Reads = Pick<SagaStore, 'getHead' | 'pageEntries'>;

/** Steps are named with the path of their saga below the root: `refund/mail`. */
export const standsBelow = async (
  store: Reads,
  parentId: string,
  entries: readonly ToldEntry[],
  stories: readonly Story[],
): Promise<UndoPlan['stands']> => {
  const found: UndoPlan['stands'] = [];
  for (const { step, effect } of stories.filter((story) => story.effect.children === true)) {
    for (const { sagaId } of namedIn(entries.find(({ seq }) => seq === effect.startSeq))) {
      const head = await store.getHead(sagaId);
      const matters = head?.state.effects.some((one) => isFinal(one) || one.children === true) === true;
      // An id that was taken by another saga is none of its children.
      if (head === undefined || !matters || !isChildOf(head, parentId, effect.startSeq)) continue;
      const told = await readLedger(store, sagaId, head.seq);
      const inside = storiesOf(head, told);
      const below = [...undoPlanOf(inside).stands, ...(await standsBelow(store, sagaId, told, inside))];
      found.push(...below.map((one) => ({ ...one, step: `${step}/${one.step}` })));
    }
  }
  return found;
};
