/** What a saga's answer means, in words that the command and the console share. */
import { CLAIMED } from '../contract/identity.ts';
import type { Observation, ObservedStep, SagaSubject } from '../contract/saga-observation.ts';
import { effectsStillStanding } from '../core/saga/people/standing.ts';
import { listSome } from './text.ts';

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

/** `issue_refund` -> `Issue refund`, `refund-approved@2` -> `Refund approved`. */
const spoken = (name: string): string => {
  const words = name
    .replace(/@.*$/s, '')
    .replaceAll(/[_.-]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** `orderId` 2001 -> `order 2001`; a name that says only that it is an id is left out. */
const aboutText = ({ name, value }: NonNullable<SagaSubject['about']>): string => {
  const words = name
    .replace(/_?(?:id|ref|reference|number|no)$/i, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return `${words} ${value}`.trim();
};

/** `25.00 EUR`; empty without an amount. */
const amountText = ({
  amount,
  currency,
}: {
  amount?: string | null | undefined;
  currency?: string | null | undefined;
}): string => (amount == null ? '' : `${amount} ${currency ?? ''}`.trim());

/** What a saga does, in a few words: `Refund 250.00 EUR, order 2001`. Its id, when nothing else is known. */
export const sagaTitle = ({
  sagaId,
  definition,
  subject,
}: {
  sagaId: string;
  definition?: string | null | undefined;
  subject?: SagaSubject | undefined;
}): string => {
  const name = spoken(definition ?? subject?.tool ?? '');
  const what = [name, amountText(subject ?? {})].filter((one) => one !== '').join(' ');
  const reference = subject?.about === undefined ? subject?.externalRef : aboutText(subject.about);
  return [what || sagaId, ...(reference === undefined ? [] : [reference])].join(', ');
};

const MOST_EFFECTS = 5;

/** `issue_refund 25.00 EUR (re_1)`. */
const effectText = (one: ObservedStep): string =>
  [one.tool, amountText(one), one.externalRef === null ? '' : `(${one.externalRef})`]
    .filter((part) => part !== '')
    .join(' ');

/** What becomes of a saga when its approval is declined, said before anybody decides. */
export const declineText = (seen: Observation): string => {
  const done = effectsStillStanding(seen);
  const names = listSome(done.map(effectText), MOST_EFFECTS);
  if (seen.interactive !== undefined) {
    return `Declined, the step does not happen${done.length === 0 ? '' : `, and what the saga did before stands: ${names}`}.`;
  }
  return done.length === 0
    ? 'This saga has done nothing yet. Declined, it ends.'
    : `This saga already did ${names}. Declining undoes ${done.length === 1 ? 'it' : 'them'}, as far as anything can.`;
};
