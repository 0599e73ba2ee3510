/**
 * Item formats. They prevent an older release, after a rollback of the deployment, from misreading and
 * overwriting the items of a newer one.
 */
import { WalkbackError } from '../../core/shared/errors.ts';

/** The format of saga heads, raised with every change that the release before would misread. */
export const SAGA_FORMAT = 1;

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
