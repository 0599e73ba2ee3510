import type { ErrorName } from '../../../contract/errors.ts';
import { isWalkbackError, type WalkbackError } from '../../../core/shared/errors.ts';

/** Resolves with the error of that name; anything else that happens is thrown. */
export const failing = async (work: Promise<unknown>, name: ErrorName): Promise<WalkbackError> => {
  const error: unknown = await work.then(
    () => new Error(`expected ${name}, but it succeeded`),
    (thrown: unknown) => thrown,
  );
  if (isWalkbackError(error, name)) return error;
  throw error;
};
