/** What an undo or a rewind takes back, in which order, and what it cannot take back. Pure. */

import type { UndoPlan } from '../../../contract/saga-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { isFinal, isLetStand, isUndoable } from '../decide/effects.ts';
import type { Story } from './stories.ts';
import { observed } from './stories.ts';

const MAX_NAMED = 10;

/** The reason of a step that a person let stand. */
export const letStandReason = ({ accepted, evidence }: Story): string =>
  accepted === undefined
    ? `skipped by an operator: ${evidence ?? 'no reason given'}`
    : `irreversible, and accepted as that by ${accepted.by} when the saga was taken back: ${accepted.reason ?? 'no reason given'}`;

/** The plan of one saga. What the sagas below did is in tree-plan.ts. */
export const undoPlanOf = (stories: readonly Story[]): UndoPlan => {
  const letStand = stories.filter(({ effect }) => isLetStand(effect));
  return {
    undo: stories
      .filter(({ effect }) => isUndoable(effect))
      .toReversed()
      .map((story) => ({
        ...observed(story),
        ...(story.effect.children === true ? { children: true } : {}),
        ...(story.effect.kind === 'partial' ? { partly: true } : {}),
        ...(story.effect.status === 'committed' ? {} : { unsure: true }),
      })),
    stands: stories
      .filter(({ effect }) => isFinal(effect))
      .map((story) => ({
        ...observed(story),
        reason:
          story.effect.status === 'committed'
            ? 'irreversible'
            : 'irreversible, and it is not known whether it happened',
      })),
    ...(letStand.length > 0 && {
      letStand: letStand.map((story) => ({ ...observed(story), reason: letStandReason(story) })),
    }),
  };
};

export const namedStands = (stands: UndoPlan['stands']): string => {
  const named = stands
    .slice(0, MAX_NAMED)
    .map(({ step, tool, externalRef }) => `${step} (${tool}, ref ${externalRef ?? 'none'})`);
  const more = stands.length > named.length ? ` and ${stands.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
};

/** Refuses to turn back over what nothing takes back, before anything is written. */
export const requireReturn = (sagaId: string, { stands }: UndoPlan, acceptResidue: boolean): void => {
  if (acceptResidue || stands.length === 0) return;
  throw new WalkbackError(
    'PointOfNoReturn',
    `Nothing takes back ${namedStands(stands)} of saga ${sagaId}. Nothing was changed. Give acceptResidue to undo the rest and leave that standing.`,
    { details: { sagaId, stands } },
  );
};
