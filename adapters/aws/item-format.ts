/**
 * Item formats. They prevent an older release, after a rollback of the deployment, from misreading and
 * overwriting the items of a newer one.
 */
import type { SagaHead } from '../../core/saga/model/head.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

/** The newest format of saga heads, raised with every change that the release before would misread. */
export const SAGA_FORMAT = 5;

/** The oldest format whose release can read a compressed state. */
export const PACKED_FORMAT = 3;

/**
 * The oldest format that a head can have, so that an older release goes on with the heads that it
 * understands. A head that would need a second write unit is stored as format 3 (`headItem`).
 *
 * - 2: a compensator was put aside, to be tried again.
 * - 3: the saga is more than a straight line of tools that an execution runs from beginning to end.
 * - 4: an agent does a step of its plan, or the saga is such a step.
 * - 5: an effect that somebody had let stand was taken back by hand later, which changes nothing else.
 */
export const sagaFormatOf = (
  head: Pick<SagaHead, 'parent' | 'state' | 'project' | 'maxConcurrent'>,
): number => {
  const { parent, state, project, maxConcurrent } = head;
  const { effects, undoRequested, rewind, epoch, interactive, inline, output } = state;
  if (state.byHandLater === true) return 5;
  if (state.delegates === true || (interactive !== undefined && parent !== undefined)) return 4;
  const isLive = interactive !== undefined || inline !== undefined;
  const isLocked =
    state.locked !== undefined || state.locking !== undefined || state.wait?.kind === 'resource';
  if (isLocked || project !== undefined || maxConcurrent !== undefined) return 3;
  const hasFamily = parent !== undefined || effects.some(({ children }) => children === true);
  if (undoRequested === true || rewind !== undefined || epoch > 0 || isLive || hasFamily) return 3;
  if (output === true) return 3;
  return effects.some(({ undo }) => undo !== undefined) ? 2 : 1;
};

/** The same for sessions. */
export const SESSION_FORMAT = 1;

/**
 * Checks an item before it is moved: `ConfigurationError` when a newer release wrote it. Its reader refuses a
 * format that is no number.
 */
export const checkFormat = ({ format, pk }: Record<string, unknown>, known: number): void => {
  if (typeof format !== 'number' || format <= known) return;
  throw new WalkbackError(
    'ConfigurationError',
    `${String(pk)} was written by a newer release of Walkback (format ${JSON.stringify(format)}, this one knows ${known}). ` +
      'Deploy that release again. Nothing was changed.',
    { details: { format, knows: known } },
  );
};
