/**
 * Counts the effects that a rewind of a session is about, including those for which its answer has no room.
 * Pure.
 */
import type { RewindAnswer } from '../../contract/rewind.ts';

type Told = Pick<RewindAnswer, 'sagas' | 'sagasNotListed'>;

export const sagasIn = ({ sagas, sagasNotListed }: Told): number =>
  sagas.length + (sagasNotListed?.sagas ?? 0);

/** A step that runs sagas does not count; the effects of those sagas do. */
export const undoneIn = ({ sagas, sagasNotListed }: Told): number =>
  sagas.reduce(
    (sum, { plan: { undo, undoNotListed = 0 } }) =>
      sum + undo.filter(({ children }) => children !== true).length + undoNotListed,
    sagasNotListed?.undo ?? 0,
  );

export const standsIn = ({ sagas, sagasNotListed }: Told): number =>
  sagas.reduce(
    (sum, { plan: { stands, standsNotListed = 0 } }) => sum + stands.length + standsNotListed,
    sagasNotListed?.stands ?? 0,
  );
