import type { Observation, ObservedStep } from '../../../contract/saga-answers.ts';

/** After a rewind, a step may have taken effect once in each epoch. */
const placeOf = ({ step, epoch = 0 }: ObservedStep): string => `${step}@${epoch}`;

/** What took effect and is not told as left over, too. What is left below may have the name of a step here. */
export const standingIn = ({ committed, notCompensated }: Observation): Observation['committed'] => {
  const left = new Set(notCompensated.flatMap((one) => (one.sagaId === undefined ? [placeOf(one)] : [])));
  return committed.filter((one) => !left.has(placeOf(one)));
};
