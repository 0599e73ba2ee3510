/** What a saga's answer means, in words that the command and the console share. */
import { CLAIMED } from '../contract/identity.ts';
import type { Observation } from '../contract/saga-answers.ts';

/** Error of an effect that only waits for another step. It is retried together with that step. */
export const BLOCKED = 'CompensationBlocked';

/**
 * Whether `retry` would do anything: the effect has a compensator that did not work. What is left in sagas
 * below is retried there.
 */
export const isRetryable = ({ error, children }: Observation['notCompensated'][number]): boolean =>
  children !== true && error !== undefined && error.name !== BLOCKED;

/** How the person who did something proved who they are. */
export const provenText = (proof: string | null | undefined): string =>
  proof == null || proof === CLAIMED ? 'a name that nobody proved' : `proven by ${proof}`;

const standText = (count: number, accepted = 0): string =>
  `${count} more ${count === 1 ? 'stands' : 'stand'}${accepted === 0 ? '' : `, ${accepted} of them accepted`}`;

/** What only this line counts; the rest is in the saga's own description. */
export const notListedTexts = ({
  notListed,
  acceptedNotListed,
  residueNotListed,
}: NonNullable<Observation['children']>[number]): string[] => [
  ...(notListed === undefined ? [] : [standText(notListed, acceptedNotListed)]),
  ...(residueNotListed === undefined ? [] : [`${residueNotListed} more left something`]),
];
