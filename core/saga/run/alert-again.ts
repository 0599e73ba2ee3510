/**
 * Which failed sagas nobody was told of, and when their alert is sent again (S7). An execution sends it, so a
 * new generation is recorded before: two sweeps at once send it once. Pure.
 */
import { HOUR_MS, MINUTE_MS } from '../../../contract/times.ts';
import type { SagaHead } from '../model/head.ts';

const LONGEST_WAIT_MS = HOUR_MS;

/** After this, an operator has the alert sent again by naming the saga to the sweeper. */
const GIVEN_UP_AFTER_MS = 7 * 24 * HOUR_MS;

/** The alert topic has not taken the alert of this failed saga, or nobody knows. */
export const isUnalerted = ({ state }: Pick<SagaHead, 'state'>): boolean =>
  state.status === 'COMPENSATION_FAILED' && state.alert?.status !== 'delivered';

/**
 * Whether the alert is due. One that an execution never sent, because it died before, is due at once. One that
 * was refused is due after a minute, then after 2, 4, 8 and so on up to an hour, for a week.
 */
export const isAlertDue = ({ state, updatedAt, statusSince }: SagaHead, nowMs: number): boolean => {
  if (nowMs - Date.parse(statusSince) > GIVEN_UP_AFTER_MS) return false;
  if (state.alert === undefined && state.resumes === 0) return true;
  return nowMs - Date.parse(updatedAt) >= Math.min(LONGEST_WAIT_MS, MINUTE_MS * 2 ** state.resumes);
};
