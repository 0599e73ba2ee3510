/** The error of a merge that has conflicts (W3). Pure. */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Composition } from '../model.ts';

const MAX_NAMED = 20;

const conflictPath = ({ repository, path }: Conflict): string => {
  if (path === '.') return repository;
  return repository === '.' ? path : `${repository}/${path}`;
};

const TOLD: Record<Composition['kind'], { subject: string; wayOn: string }> = {
  paths: {
    subject: 'These paths cannot come back by themselves',
    wayOn: 'Name the paths in their way, too, or roll back all',
  },
  revert: {
    subject: 'Later work changed the same places, so this cannot be taken back by itself',
    wayOn: 'Take back the later work first, or roll back to before both',
  },
  merge: {
    subject: 'Both sides changed the same places',
    wayOn:
      'Take a checkpoint of the target, bring it into the fork (walkback merge TARGET --into FORK --markers), resolve it there, and merge again',
  },
};

const MARKED = {
  subject: 'The work still has conflict markers',
  wayOn:
    'Resolve them where the work is, take a checkpoint, and merge again, or merge them as they are (allowMarkers, --allow-markers)',
};

const conflictError = (
  conflicts: readonly Conflict[],
  { kind: of }: Pick<Composition, 'kind'>,
): WalkbackError => {
  const { subject, wayOn } = conflicts.every(({ kind }) => kind === 'markers') ? MARKED : TOLD[of];
  const named = conflicts
    .slice(0, MAX_NAMED)
    .map((one) => `${conflictPath(one)} (${one.kind}: ${one.message})`);
  const more = conflicts.length - named.length;
  return new WalkbackError(
    'ChangesetConflict',
    `${subject}: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Nothing was changed. ${wayOn}.`,
    { details: { conflicts: conflicts.slice(0, 200) } },
  );
};

/** Throws `ChangesetConflict` for conflicts, unless they are to be written between markers. */
export const requireNoConflicts = (
  { conflicts = [] }: { conflicts?: readonly Conflict[] | undefined },
  composition: Composition,
): void => {
  const markers = composition.kind === 'merge' && composition.markers;
  if (conflicts.length > 0 && !markers) throw conflictError(conflicts, composition);
};
