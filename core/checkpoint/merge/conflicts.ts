/** The refusal of a merge that does not go through (W3). Pure. */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Composition } from '../model.ts';

const MAX_NAMED = 20;

const placeOf = ({ repository, path }: Conflict): string => {
  if (path === '.') return repository;
  return repository === '.' ? path : `${repository}/${path}`;
};

const SUBJECT: Record<Composition['kind'], string> = {
  paths: 'These paths cannot come back by themselves',
  revert: 'Later work changed the same places, so this cannot be taken back by itself',
  merge: 'Both sides changed the same places',
};

const conflictError = (
  conflicts: readonly Conflict[],
  { kind }: Pick<Composition, 'kind'>,
): WalkbackError => {
  const named = conflicts.slice(0, MAX_NAMED).map((one) => `${placeOf(one)} (${one.kind}: ${one.message})`);
  const more = conflicts.length - named.length;
  return new WalkbackError(
    'ChangesetConflict',
    `${SUBJECT[kind]}: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Nothing was changed.`,
    { details: { conflicts: conflicts.slice(0, 200) } },
  );
};

/** Throws `ChangesetConflict` for conflicts that would not be written between markers. */
export const requireNoConflicts = (
  { conflicts = [] }: { conflicts?: readonly Conflict[] | undefined },
  composition: Composition,
): void => {
  const markers = composition.kind === 'merge' && composition.markers;
  if (conflicts.length > 0 && !markers) throw conflictError(conflicts, composition);
};
