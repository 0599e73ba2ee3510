import type { Observation } from '../contract/saga-answers.ts';

/** Error of an effect that only waits for another step. It is retried together with that step. */
export const BLOCKED = 'CompensationBlocked';

/**
 * Whether `retry` would do anything: the effect has a compensator that did not work. What is left in sagas
 * below is retried there.
 */
export const isRetryable = ({ error, children }: Observation['notCompensated'][number]): boolean =>
  children !== true && error !== undefined && error.name !== BLOCKED;
