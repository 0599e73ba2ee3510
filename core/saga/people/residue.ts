/**
 * What nothing takes back in a plan, as one short text: who lets it stand says which plan he saw. It names the effects, and not what
 * became of them. Pure.
 */
import type { RewoundSaga } from '../../../contract/rewind.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { sha256Hex } from '../../shared/ids.ts';
import { hasText } from '../model/text.ts';
import { namedStands } from '../view/undo-plan.ts';

type Planned = Pick<RewoundSaga, 'sagaId' | 'plan'>;

/** Agents choose the names of sagas and steps, so these must be too long to be found a second time. */
const KEY_LENGTH = 32;
const RESIDUE_LENGTH = 32;

/** One for each effect that stands. */
export const residueKeys = (sagas: readonly Planned[]): string[] =>
  sagas
    .flatMap(({ sagaId, plan: { stands } }) =>
      stands.map((one) => JSON.stringify([one.sagaId ?? sagaId, one.step, one.epoch ?? 0])),
    )
    .map((effect) => sha256Hex(effect).slice(0, KEY_LENGTH))
    .toSorted();

export const residueOf = (sagas: readonly Planned[]): string =>
  sha256Hex(residueKeys(sagas).join('\n')).slice(0, RESIDUE_LENGTH);

/** Who lets an effect stand says why, because the ledger shows it to whoever asks later. */
export const requireReason = (
  field: 'evidence' | 'reason',
  { acceptResidue, dryRun }: { acceptResidue?: boolean | undefined; dryRun?: boolean | undefined },
  reason = '',
): void => {
  if (acceptResidue !== true || dryRun === true || hasText(reason)) return;
  throw new WalkbackError(
    'InvalidInput',
    `${field}: acceptResidue needs a reason why these effects may stay.`,
  );
};

/** Refuses before anything is written: what was accepted is what the plan named. */
export const requireSameResidue = (sagas: readonly Planned[], residue: string | undefined): void => {
  if (residue === undefined || residue === residueOf(sagas)) return;
  const stands = sagas.flatMap(({ sagaId, plan }) =>
    plan.stands.map((one) => ({ ...one, sagaId: one.sagaId ?? sagaId })),
  );
  const named = stands.map((one) => ({ ...one, step: `${one.step} of saga ${one.sagaId}` }));
  const now = stands.length === 0 ? 'nothing' : namedStands(named);
  throw new WalkbackError(
    'ResidueChanged',
    `What nothing takes back is not what the plan named: now it is ${now}. Nothing was changed. Make the plan again, and look at it.`,
    { details: { residue: residueOf(sagas), stands } },
  );
};
