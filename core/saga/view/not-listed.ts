import type { Observation } from '../../../contract/saga-observation.ts';

/** Number of effects that stand in sagas below and that only the descriptions of those sagas list. */
export const notListedIn = ({ children = [] }: Observation): number =>
  children.reduce((sum, { notListed = 0 }) => sum + notListed, 0);

/** The same, without effects that somebody let stand. */
export const openNotListedIn = ({ children = [] }: Observation): number =>
  children.reduce((sum, { notListed = 0, acceptedNotListed = 0 }) => sum + notListed - acceptedNotListed, 0);
