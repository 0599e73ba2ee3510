/**
 * What a person can do about a saga, in words that the command and the console share. The `advice` of the
 * answer is for a model, which has to leave repairs to people.
 */
import type { Observation, SagaStatus } from '../contract/saga-observation.ts';
import { plural } from '../core/shared/plural.ts';
import { declineText } from './saga-words.ts';

const NEXT: Record<Exclude<SagaStatus, 'AWAITING'>, string> = {
  QUEUED: 'Nothing to do: it starts when its project has room for it.',
  RUNNING: 'It goes on by itself. A cancel undoes what it did.',
  PAUSED: 'It goes on by itself after the pause.',
  PARKED: 'What it did stands. Resume it, or cancel it, which undoes what it did.',
  COMPENSATING: 'It undoes what it did, by itself.',
  COMPLETED: 'All steps are done. It can be undone, or taken back some steps.',
  COMPENSATED: 'Nothing of it stands. When the cause is fixed, start another saga.',
  COMPENSATION_FAILED:
    'Decide about each effect that could not be undone: try its compensator again, record how it was undone by hand, or accept it as it is.',
};

const branches = (count: number): string =>
  `${plural(count, 'branch', 'branches')} failed, and what ${count === 1 ? 'it' : 'they'} did was undone`;

const nextOf = (seen: Observation): string => {
  const { status, interactive, notCompensated, compensated } = seen;
  const isStopped = status === 'COMPENSATION_FAILED';
  if (seen.rewind !== undefined) {
    return isStopped
      ? `The rewind stopped. ${NEXT.COMPENSATION_FAILED} Then it goes on. A cancel undoes everything.`
      : 'Its last effects are undone, then it goes on, by itself. A cancel undoes everything.';
  }
  if (status === 'COMPENSATED' && (notCompensated.length > 0 || compensated.some(({ residue }) => residue))) {
    return 'It was undone, except for what is named above.';
  }
  if (interactive?.what === 'next-step') {
    return 'Its agent submits the next step, or closes it. A cancel undoes what it did.';
  }
  if (status === 'AWAITING') return `A person decides. Approved, it goes on. ${declineText(seen)}`;
  if (status === 'COMPLETED' && seen.parent !== undefined) {
    return 'All steps are done. What it did goes back together with the saga that runs it.';
  }
  if (!isStopped && notCompensated.some(({ nextAttempt }) => nextAttempt !== undefined)) {
    return 'A compensator is delayed and is tried again by itself. It can be tried at once, or the effect be recorded as undone by hand, or accepted as it is.';
  }
  return NEXT[status];
};

/** Whether operators were alerted of a saga that failed. */
export const alertForPeople = ({ alert }: Observation): string | undefined => {
  switch (alert?.status) {
    case undefined:
      return undefined;
    case 'delivered':
      return `The alert topic took the alert (${alert.at ?? '?'}).`;
    case 'refused':
      return `Nobody was alerted: the alert topic refused the alert${alert.refusals === 1 ? '' : ` ${alert.refusals ?? 0} times`}, the last time ${alert.at ?? '?'} (${alert.error?.name ?? '?'}: ${alert.error?.message ?? ''}). It is sent again for a week.`;
    case 'unknown':
      return 'It is not known yet whether anybody was alerted.';
  }
};

/** One or two sentences, without the words of a command or a page. */
export const nextForPeople = (seen: Observation): string =>
  seen.branchesFailed === undefined ? nextOf(seen) : `${branches(seen.branchesFailed)}. ${nextOf(seen)}`;
