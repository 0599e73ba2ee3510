/** Whether operators were alerted of a saga that failed, from its ledger. Pure. */
import type { Observation } from '../../../contract/saga-observation.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';

export const alertOf = ({ state }: SagaHead, entries: readonly LedgerEntry[]): Pick<Observation, 'alert'> => {
  if (state.status !== 'COMPENSATION_FAILED') return {};
  const failed = entries.findLastIndex(({ status }) => status === 'compensation_failed');
  const told = entries.slice(failed + 1).flatMap((entry) => (entry.direction === 'alert' ? [entry] : []));
  const last = told.at(-1);
  if (state.alert === undefined || last === undefined) return { alert: { status: 'unknown' } };
  const refusals = told.filter(({ status }) => status === 'refused').length;
  return {
    alert: {
      status: last.status,
      at: last.at,
      ...(refusals === 0 ? {} : { refusals }),
      ...(last.status === 'refused' ? { error: last.error } : {}),
    },
  };
};
