/**
 * Item formats. They prevent an older release, after a rollback of the deployment, from misreading and
 * overwriting the items of a newer one.
 */
import { WalkbackError } from '../../core/shared/errors.ts';

/** Raised with every change of saga heads that the previous release would misread. */
export const PLAIN_SAGA_FORMAT = 1;

/** Of heads in which a compensator was put aside, to be tried again: a release before that would misread them, and only them. */
export const SAGA_FORMAT = 2;

/** The same for sessions. 2: bases have owners, and are kept by them. */
export const SESSION_FORMAT = 2;

/**
 * Checks an item before it is moved: `ConfigurationError` when a newer release wrote it. An item without a
 * format is from the first one.
 */
export const checkFormat = ({ format, pk }: Record<string, unknown>, known: number): void => {
  if (format === undefined || (typeof format === 'number' && format <= known)) return;
  throw new WalkbackError(
    'ConfigurationError',
    `${String(pk)} was written by a newer release of Walkback (format ${JSON.stringify(format)}, this one knows ${known}). ` +
      'Deploy that release again. Nothing was changed.',
    { details: { format, knows: known } },
  );
};
