import { WalkbackError } from '../../core/shared/errors.ts';

/**
 * One of the options that a form or an address has. Any other value is refused, so that nothing unintended is
 * done or shown.
 */
export const choice = <Option extends string>(
  name: string,
  given: string | undefined,
  options: readonly Option[],
): Option => {
  const found = options.find((one) => one === given);
  if (found !== undefined) return found;
  throw new WalkbackError('InvalidInput', `${name}: give one of ${options.join(', ')}.`);
};
