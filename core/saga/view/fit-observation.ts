/** Keeps an observation within the size of a Lambda answer, and says how much is left out. Pure. */
import type { Observation } from '../../../contract/saga-observation.ts';
import { MIB } from '../../../contract/sizes.ts';
import { firstThatFit } from '../../shared/bounded.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';

/** A Lambda answer has at most 6 MB. */
const MAX_BYTES = 5.5 * MIB;

type Lists = Pick<Observation, 'committed' | 'compensated' | 'notCompensated'>;

/**
 * Lists in this order what fits: what somebody must act on, what stands, what somebody let stand, what was
 * taken back and left something, and last what was taken back completely. A saga that is rewound again and
 * again has ever more of the last two; the newest are listed.
 */
export const fittingObservation = (seen: Observation): Observation => {
  if (jsonBytes(seen) <= MAX_BYTES) return seen;
  const { committed, compensated, notCompensated } = seen;
  const roomBytes = MAX_BYTES - jsonBytes({ ...seen, committed: [], compensated: [], notCompensated: [] });
  const leftSomething = ({ residue, byHand }: Lists['compensated'][number]): boolean =>
    residue !== undefined || byHand !== undefined;
  const newest = compensated.toReversed();
  const byWeight: Lists[keyof Lists][number][] = [
    ...notCompensated.filter(({ accepted }) => accepted !== true),
    ...committed,
    ...notCompensated.filter(({ accepted }) => accepted === true),
    ...newest.filter(leftSomething),
    ...newest.filter((one) => !leftSomething(one)),
  ];
  const told = new Set(firstThatFit(byWeight, { count: byWeight.length, bytes: roomBytes }));
  const fitting = <Item extends (typeof byWeight)[number]>(items: readonly Item[]): Item[] =>
    items.filter((one) => told.has(one));
  const lists: Lists = {
    committed: fitting(committed),
    compensated: fitting(compensated),
    notCompensated: fitting(notCompensated),
  };
  const left = {
    committed: committed.length - lists.committed.length,
    compensated: compensated.length - lists.compensated.length,
    notCompensated: notCompensated.length - lists.notCompensated.length,
  };
  return {
    ...seen,
    ...lists,
    ...(left.committed > 0 ? { committedNotListed: left.committed } : {}),
    ...(left.compensated > 0 ? { compensatedNotListed: left.compensated } : {}),
    ...(left.notCompensated > 0 ? { notCompensatedNotListed: left.notCompensated } : {}),
  };
};
