import type { Observation, ObservedStep } from '../../../contract/saga-observation.ts';

/** After a rewind, a step may have taken effect once in each epoch. */
const attemptKey = ({ step, epoch = 0 }: ObservedStep): string => `${step}@${epoch}`;

/**
 * Effects that stand and are not also listed as left over. Sagas below may have steps of the same name; these
 * are not compared.
 */
export const effectsStillStanding = ({
  committed,
  notCompensated,
}: Observation): Observation['committed'] => {
  const left = new Set(notCompensated.flatMap((one) => (one.sagaId === undefined ? [attemptKey(one)] : [])));
  return committed.filter((one) => !left.has(attemptKey(one)));
};
