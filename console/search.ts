/** Finds words in what was read of sagas. Pure. */
import type { SagaSummary } from '../contract/saga-lists.ts';
import { fitsWords } from '../core/shared/fits-words.ts';
import { sagaTitle } from '../present/saga-words.ts';

/** By title (amount, reference), id, template, starter and error. */
export const findSagas = (sagas: readonly SagaSummary[], asked: string): SagaSummary[] => {
  const fits = fitsWords(asked);
  return sagas.filter((one) =>
    fits(
      sagaTitle(one),
      one.sagaId,
      one.definition,
      one.requestedBy,
      one.failure,
      one.subject?.externalRef,
      one.subject?.about?.value,
    ),
  );
};
