import type { Observation } from '../contract/saga-answers.ts';

/** An effect that only waits for another step is retried with that step. */
export const BLOCKED = 'CompensationBlocked';

/** Whether `retry` does anything: it has a compensator that did not work. What is left below is retried there. */
export const isRetryable = ({ error, children }: Observation['notCompensated'][number]): boolean =>
  children !== true && error !== undefined && error.name !== BLOCKED;
