/** Submitted steps of interactive sagas as items, and back (docs/sagas.md, Data). Pure. */
import * as z from 'zod';
import type { SubmittedStep } from '../../../core/saga/model/submitted-step.ts';
import { pinSteps } from '../../../core/saga/plan/pinned-steps.ts';
import { checked, itemReader } from '../read-item.ts';
import type { Item, Key } from '../table-reads.ts';
import { ledgerKey, ofSaga } from './saga-items.ts';
import { pinnedSteps, storedSubmitted } from './stored-sagas.ts';

export const submittedKey = (sagaId: string, stepId: string): Key => ({
  pk: ledgerKey(sagaId),
  sk: `STEP#${stepId}`,
});

export const submittedItem = (sagaId: string, { step, ...rest }: SubmittedStep): Item => ({
  ...submittedKey(sagaId, rest.stepId),
  ...rest,
  step: JSON.stringify(step),
});

/** Throws `LedgerBroken` when the item is not what was pinned under this id. */
export const readSubmitted = itemReader(ofSaga, (item): SubmittedStep => {
  const { pk, sk, step: text, ...rest } = z.looseObject(storedSubmitted.shape).parse(item);
  const [step] = checked(pinnedSteps, [JSON.parse(text)]);
  const { stepId, index, seq, requestHash, planHash } = rest;
  const isPinned =
    step !== undefined &&
    pinSteps([step]).planHash === planHash &&
    step.index === index &&
    step.id === stepId &&
    sk === submittedKey(pk, stepId).sk;
  if (!isPinned) throw new RangeError('the hash of the step is another one');
  return { stepId, index, seq, requestHash, planHash, step };
});
